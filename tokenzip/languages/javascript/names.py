"""Names that JavaScript itself, its hosts and its test runners give: data, as of the extractor's version."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


# https://nodejs.org/api/ (modules of Node 22), also with the prefix "node:".
NODE_MODULES = frozenset(
    _words(
        """
        assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram
        diagnostics_channel dns dns/promises domain events fs fs/promises http http2 https inspector
        inspector/promises module net os path path/posix path/win32 perf_hooks process punycode querystring readline
        readline/promises repl sea sqlite stream stream/consumers stream/promises stream/web string_decoder sys test
        test/reporters timers timers/promises tls trace_events tty url util util/types v8 vm wasi worker_threads zlib
        """
    )
)
# ECMAScript 2025, the DOM and the fetch family as in TypeScript's lib.dom, Node's globals, the usual test runners' names, and
# what the compilers of components give (https://vuejs.org/api/sfc-script-setup.html, https://svelte.dev/docs/svelte/what-are-runes).
GLOBALS = frozenset(
    _words(
        """
        AggregateError Array ArrayBuffer AsyncFunction Atomics BigInt BigInt64Array BigUint64Array Boolean DataView
        Date Error EvalError FinalizationRegistry Float32Array Float64Array Function Infinity Int16Array Int32Array
        Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp
        Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array
        Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape
        eval globalThis isFinite isNaN parseFloat parseInt undefined unescape arguments AbortController AbortSignal
        Blob BroadcastChannel Buffer ByteLengthQueuingStrategy CanvasRenderingContext2D CloseEvent CompressionStream
        CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DOMParser DecompressionStream Document Element
        Event EventSource EventTarget File FileList FileReader FormData HTMLElement Headers History Image
        IntersectionObserver Location MessageChannel MessageEvent MessagePort MutationObserver Node NodeList
        Notification Performance PerformanceObserver ProgressEvent ReadableStream ReadableStreamDefaultController
        Request ResizeObserver Response Storage SubtleCrypto TextDecoder TextDecoderStream TextEncoder
        TextEncoderStream TransformStream URL URLSearchParams WebAssembly WebSocket Window Worker WritableStream
        XMLHttpRequest addEventListener alert atob btoa caches cancelAnimationFrame clearImmediate clearInterval
        clearTimeout confirm console crypto customElements dispatchEvent document fetch frames getComputedStyle
        history indexedDB localStorage location matchMedia navigator open parent performance postMessage prompt
        queueMicrotask removeEventListener requestAnimationFrame requestIdleCallback screen self sessionStorage
        setImmediate setInterval setTimeout structuredClone top window __dirname __filename exports global module
        process require Bun Deno after afterAll afterEach assert before beforeAll beforeEach bench context cy describe
        expect expectTypeOf fail fdescribe fit it jasmine jest pending setup specify spyOn suite suiteSetup
        suiteTeardown teardown test vi vitest xdescribe xit define JSX React defineProps defineEmits defineExpose defineOptions
        defineSlots defineModel withDefaults $state $derived $effect $props $bindable $inspect $host
        """
    )
)
PRIMITIVES = frozenset(
    {"string", "number", "boolean", "bigint", "symbol", "null", "undefined", "void", "never", "RegExp", "function"}
)
"""Written or literal types whose members are the language's own."""

ARRAYS = frozenset({
    "Array", "ReadonlyArray", "Iterable", "AsyncIterable", "Iterator", "IterableIterator", "AsyncIterator",
    "AsyncIterableIterator", "Generator", "AsyncGenerator", "ArrayLike", "Set", "ReadonlySet", "WeakSet",
    "NodeListOf", "HTMLCollectionOf", "ReadableStream", "ArrayIterator", "SetIterator", "ConcatArray",
})  # fmt: skip
"""Types whose first argument is what iteration yields."""
MAPS = frozenset({"Map", "ReadonlyMap", "WeakMap", "Record", "FormData"})
PROMISES = frozenset({"Promise", "PromiseLike", "Awaitable"})
SAME = frozenset({
    "Partial", "Required", "Readonly", "Pick", "Omit", "NonNullable", "Exclude", "Extract", "Awaited", "ThisType",
    "NoInfer", "Uppercase", "Lowercase", "DeepPartial", "WithRequired",
})  # fmt: skip
"""Utility types that (for members) are their first argument."""
KNOWN_TYPES = ARRAYS | MAPS | PROMISES | frozenset({"Function", "Error", "Date", "RegExp"})

ELEMENT_CALLBACKS = frozenset(
    {"map", "forEach", "filter", "find", "findLast", "findIndex", "findLastIndex", "some", "every", "flatMap"}
)
"""Array methods whose callback's first parameter is an element."""
SAME_ARRAY = frozenset({
    "filter", "slice", "concat", "reverse", "sort", "splice", "toSorted", "toReversed", "toSpliced", "with", "fill",
    "copyWithin", "values", "flat", "add",
})  # fmt: skip
ONE_ELEMENT = frozenset({"find", "findLast", "pop", "shift", "at"})
