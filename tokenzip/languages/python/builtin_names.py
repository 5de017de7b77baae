"""Names that Python itself provides: shipped here, so that a result does not depend on the interpreter that computed it.

From `sys.stdlib_module_names` and `dir(builtins)` of CPython 3.11, with the modules that 3.8 to 3.14 have beside.
"""

from __future__ import annotations

STDLIB_MODULES = frozenset(
    """
    __future__ _abc _aix_support _ast _asyncio _bisect _blake2 _bootlocale _bootsubprocess _bz2 _codecs _codecs_cn
    _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _collections _collections_abc _compat_pickle
    _compression _contextvars _crypt _csv _ctypes _curses _curses_panel _datetime _dbm _decimal _dummy_thread
    _elementtree _frozen_importlib _frozen_importlib_external _functools _gdbm _hashlib _heapq _imp _io _json _locale
    _lsprof _lzma _markupbase _md5 _msi _multibytecodec _multiprocessing _opcode _operator _osx_support _overlapped
    _pickle _posixshmem _posixsubprocess _py_abc _pydecimal _pyio _queue _random _scproxy _sha1 _sha256 _sha3 _sha512
    _signal _sitebuiltins _socket _sqlite3 _sre _ssl _stat _statistics _string _strptime _struct _symtable _thread
    _threading_local _tkinter _tokenize _tracemalloc _typing _uuid _warnings _weakref _weakrefset _winapi _zoneinfo
    abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
    binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys
    compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses
    dataclasses datetime dbm decimal difflib dis distutils doctest dummy_threading email encodings ensurepip enum
    errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt
    getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect
    io ipaddress itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap marshal math
    mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode
    operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib
    posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re
    readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd
    smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string
    stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile
    termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle
    turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound
    wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
    """.split()  # noqa: SIM905
)
BUILTINS = frozenset(
    """
    __annotations__ __cached__ __class__ __dict__ __module__ __qualname__
    ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
    BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
    ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception
    ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError
    ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplemented
    NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError
    PythonFinalizationError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning
    StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True
    TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
    UnicodeWarning UserWarning ValueError Warning WindowsError ZeroDivisionError __build_class__ __builtins__
    __debug__ __doc__ __file__ __import__ __loader__ __name__ __package__ __path__ __spec__ abs aiter all anext any
    ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright credits delattr dict
    dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input
    int isinstance issubclass iter len license list locals map max memoryview min next object oct open ord pow print
    property quit range repr reveal_locals reveal_type reversed round set setattr slice sorted staticmethod str sum
    super tuple type vars zip
    """.split()  # noqa: SIM905
)
# Calls of these give nothing that the caller put in: what comes back lies outside of the project.
PLAIN_BUILTINS = frozenset(
    """
    abs all any ascii bin bytearray callable chr compile dir divmod format hasattr hash hex id input isinstance issubclass len
    memoryview oct ord pow range repr round
    """.split()  # noqa: SIM905
)
PLAIN_MODULES = frozenset(
    """
    argparse ast base64 binascii bz2 calendar cmath codecs colorsys configparser csv curses datetime decimal difflib dis email
    errno fcntl filecmp fnmatch fractions getopt getpass gettext glob grp gzip hashlib hmac html http imaplib ipaddress json
    keyword linecache locale logging lzma mailbox marshal math mimetypes mmap msvcrt netrc ntpath numbers os pathlib platform
    plistlib poplib posixpath pprint pwd pyexpat re readline resource secrets select selectors shlex shutil signal smtplib
    socket sqlite3 ssl stat statistics string stringprep struct subprocess sys sysconfig syslog tarfile telnetlib tempfile
    termios textwrap time token tokenize tomllib trace traceback tty unicodedata urllib uuid warnings wave webbrowser winreg
    wsgiref xml xmlrpc zipfile zlib zoneinfo
    """.split()  # noqa: SIM905
)
