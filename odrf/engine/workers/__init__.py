"""Tasks that other processes do, on this machine or on others, through libraries made for it; and one
thread for linear algebra.
"""
