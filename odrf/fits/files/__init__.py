"""Files of fits: a zip archive of arrays and JSON, which holds no code.

Any program that reads zip archives opens a file.  Its members are:

``odrf.json``
    The first, of 320 bytes, not compressed.  It says the number of the format (1), the version of
    the package, how many bytes of memory the fit takes, the size of the file, where ``fit.json``
    begins, and a checksum of ``fit.json`` and the list of members.  It ends with its own checksum.
``fit.json``
    The parts of the fit.  ``parts`` is a list; each part says by ``is`` what it is, and a value
    ``{"part": 3}`` in a part means number 3 of the list, counted from 0, which comes before it.
    So a part that others share is there once.  ``fit`` is the number of the whole, and ``result``
    the class of its results.  A list in brackets is a tuple; what JSON has no word for is an object
    with one name, such as ``{"timestamp": [0, "ns", "UTC"]}``, see
    `odrf.fits.files.values`.
``arrays/*.npy``
    Arrays, as NumPy writes them.  The part of an array says its ``dtype`` and ``shape``, the member
    (``file``), where that begins in the archive (``at``), its bytes there (``stored``), and the
    first 16 digits of the SHA-256 of its header and content (``check``).  Short arrays are in
    ``fit.json`` instead, as ``numbers``; one with the same number in all places is ``every``.
``objects/*.jsonl``
    The different values of a column of objects, such as text, a line of JSON for each.  The part
    has the number of the line of each value (``codes``).

Three things are done to an array where they make it smaller.  A column of the training rows is
then read without this package by::

    array = numpy.load(archive.open(part["file"]))        # of the type part["kept"]
    if part.get("apart"):                                 # first all first bytes, then all second
        array = array.T.copy().view(part["kept"])[:, 0]
    if part.get("steps"):                                 # differences
        array = array.cumsum(dtype=part["dtype"])
    array = array.astype(part["dtype"]).reshape(part["shape"])

Trees have, instead of the array ``left`` of `odrf.engine.trees.forest.Forest`, the mask
``divided`` of the nodes that have children, and the numbers ``children`` of their left ones.
Training rows have the rows of their matrix in two arrays: ``whole``, those that `is_whole` marks,
and ``others``.

What is read is checked before it is believed.  A part is one of a fixed list of classes
(`odrf.fits.files.storable_classes`), whose fields hold what their annotations say; nothing is
imported or called by a name in the file.  The formula is text, and uses functions by names that
`odrf.design.trusted` knows.  No more memory is taken than ``odrf.json`` says, and it
cannot say more than 1000 times the size of the file.  Arrays that kernels rely on are checked in
`odrf.fits.files.validation`.  Trees that take more than 32 MB are read and checked when they are
first used; the file stays open until then.
"""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.fits.files import archive as archive
    from odrf.fits.files import arrays as arrays
    from odrf.fits.files import graph_reading as graph_reading
    from odrf.fits.files import graph_writing as graph_writing
    from odrf.fits.files import saving as saving
    from odrf.fits.files import storable_classes as storable_classes
    from odrf.fits.files import validation as validation
    from odrf.fits.files import values as values

__getattr__ = modules_of(__name__)
