"""The store: the only package that touches lmdb, msgpack and zstandard. Typed tables, transactions, versions, gc.

``docs/decisions/0001-store.md`` says where it lies and why; `environment` opens it, `store` hands out the transactions of
`database`; `files` and `links` say what the bytes of a record mean, `packs` how several neighbours lie together;
`postings` is the inverted index of keys, `vocabulary` that of words. What a table holds:

==========  ================================================  ==========================================================
table       key                                               value
==========  ================================================  ==========================================================
meta        text                                              segments of the two indexes, counters
blob        10 bytes of the blob id, 4 of the language's tag  address of its file record, the number of its words, and, if
                                                              others look at it, the address of its interface
pack        pack number                                       pack of neighbouring records of one kind: files (status, symbols),
                                                              interfaces that other files consulted, links (edges, open
                                                              references), or nodes: directories as addresses of links and
                                                              nodes, in git's order
snapshot    tree id, 4 bytes of the analysis' tag             address of the root's node
path        block number                                      block of paths (a directory's ends in a slash), by path id
path_id     8-byte digest of the path                         path id
postings    segment, first hash                               chunk of the inverted index of keys
words       segment, first word                               chunk of the inverted index of words
==========  ================================================  ==========================================================
"""

from tokenzip.store.database import ReadTransaction, WriteTransaction
from tokenzip.store.files import (
    Extent,
    SymbolColumns,
    decode_columns,
    decode_consulted,
    decode_extent,
    decode_interface,
    decode_ir,
    decode_symbols,
    encode_consulted,
    encode_interface,
    encode_ir,
    encode_symbols,
)
from tokenzip.store.formats import OldFormat, older_formats, remove_format
from tokenzip.store.links import (
    LinkRecord,
    OpenReference,
    Uses,
    decode_edges_to,
    decode_link,
    decode_opens,
    decode_uses,
    encode_link,
    link_record,
    uses_of,
)
from tokenzip.store.location import family_folder
from tokenzip.store.packs import Address, decode_pack, encode_pack, pack_value, packs_of, unpack_value
from tokenzip.store.postings import key_hash
from tokenzip.store.store import Store
from tokenzip.store.vocabulary import Vocabulary

__all__ = [
    "Address",
    "Extent",
    "LinkRecord",
    "OldFormat",
    "OpenReference",
    "ReadTransaction",
    "Store",
    "SymbolColumns",
    "Uses",
    "Vocabulary",
    "WriteTransaction",
    "decode_columns",
    "decode_consulted",
    "decode_edges_to",
    "decode_extent",
    "decode_interface",
    "decode_ir",
    "decode_link",
    "decode_opens",
    "decode_pack",
    "decode_symbols",
    "decode_uses",
    "encode_consulted",
    "encode_interface",
    "encode_ir",
    "encode_link",
    "encode_pack",
    "encode_symbols",
    "family_folder",
    "key_hash",
    "link_record",
    "older_formats",
    "pack_value",
    "packs_of",
    "remove_format",
    "unpack_value",
    "uses_of",
]
