"""Files of fits: a zip archive of arrays and JSON, which holds no code.

``odrf.json``
    The first member, of 320 bytes, not compressed: the number of the format (1), the version of the
    package, the bytes of memory that the fit takes, the size of the file, where ``fit.json``
    begins, a checksum of that and the list of members, and its own checksum.
``fit.json``
    ``parts`` is a list; each part says by ``is`` what it is, and ``{"part": 3}`` in it means number
    3 of the list, from 0, which comes before it: so a shared part is there once. ``fit`` is the
    number of the whole, ``result`` the class of its results. A list is a tuple; what JSON has no
    word for is an object with one name, such as ``{"timestamp": [0, "ns", "UTC"]}``
    (`odrf.fits.files.values`).
``arrays/*.npy``
    The part of an array says its ``dtype`` and ``shape``, the member (``file``), where that begins
    (``at``), its bytes there (``stored``), and the first 16 digits of the SHA-256 of its header and
    content (``check``). Short arrays are in ``fit.json``, as ``numbers``, or ``every`` if all are
    one.
``objects/*.jsonl``
    The different values of a column of objects, a line of JSON for each; the part has their
    ``codes``.

Where it makes an array smaller, it is changed before, and read without this package by::

    array = numpy.load(archive.open(part["file"]))        # of the type part["kept"]
    if part.get("apart"):                                 # first all first bytes, then all second
        array = array.T.copy().view(part["kept"])[:, 0]
    if part.get("steps"):                                 # differences
        array = array.cumsum(dtype=part["dtype"])
    array = array.astype(part["dtype"]).reshape(part["shape"])

Trees have, instead of ``left``, the mask ``divided`` of the nodes that have children, and their
left ``children``; training rows have those of their matrix that `is_whole` marks in ``whole``, and
``others``.

What is read is checked before it is believed. A part is one of a fixed list of classes
(`odrf.fits.files.storable_classes`), whose fields hold what their annotations say; nothing is
imported or called by a name in the file. Formulas are text, with functions that
`odrf.design.trusted` knows. No more memory is taken than ``odrf.json`` says, at most 1000 times the
size of the file. Arrays that kernels rely on are checked in `odrf.fits.files.validation`. Trees of
more than 32 MB are read and checked when they are first used; the file stays open until then.
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
