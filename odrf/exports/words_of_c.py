"""Names that C and its library have for something else."""

from __future__ import annotations

__all__ = ["DECLARED", "RESERVED"]

# What is no name of a column.
RESERVED = (
    *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
    *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
    *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef"),
    *("union", "unsigned", "void", "volatile", "while"),
    # C23
    *("alignas", "alignof", "bool", "constexpr", "false", "nullptr", "static_assert"),
    *("thread_local", "true", "typeof", "typeof_unqual"),
    # GNU C, and what it defines for some systems
    *("asm", "i386", "linux", "unix"),
    # macros of the headers
    *("HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "INFINITY", "NAN", "NULL", "math_errhandling"),
    *("FP_ILOGB0", "FP_ILOGBNAN", "FP_INFINITE", "FP_NAN", "FP_NORMAL", "FP_SUBNORMAL", "FP_ZERO"),
    *("MATH_ERREXCEPT", "MATH_ERRNO", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2"),
    *("M_LOG10E", "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2", "M_SQRT2"),
    # of the text itself
    *("N_COLUMNS", "N_TREES", "N_VALUES"),
)

# Functions that the text calls.
_CALLED = (
    *("ceil", "cos", "exp", "expm1", "fabs", "floor", "log", "log10", "log1p", "log2", "pow"),
    *("sin", "sqrt", "strcmp", "tan"),
)
# Others of numbers.
_OF_NUMBERS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cosh"),
    *("erf", "erfc", "exp2", "fdim", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ilogb"),
    *("ldexp", "lgamma", "llrint", "llround", "logb", "lrint", "lround", "modf", "nan"),
    *("nearbyint", "nextafter", "nexttoward", "remainder", "remquo", "rint", "round", "scalbln"),
    *("scalbn", "sinh", "tanh", "tgamma", "trunc"),
)
# Functions that the headers declare, for doubles, floats and long doubles; the last ones in POSIX.
# A column may have their names, which is a part of a struct.
DECLARED = (
    *(name + end for name in (*_OF_NUMBERS, *_CALLED) for end in ("", "f", "l")),
    *("memchr", "memcmp", "memcpy", "memmove", "memset", "strcat", "strchr", "strcoll", "strcpy"),
    *("strcspn", "strerror", "strlen", "strncat", "strncmp", "strncpy", "strpbrk", "strrchr"),
    *("strspn", "strstr", "strtok", "strxfrm"),
    *("gamma", "index", "j0", "j1", "jn", "rindex", "y0", "y1", "yn"),
)
