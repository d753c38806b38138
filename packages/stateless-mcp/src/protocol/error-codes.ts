// -32000 … -32019 belong to implementations and mean nothing across them; -32020 … -32099 belong to the specification.

/** The bytes are not JSON. */
export const PARSE_ERROR = -32700;

/** The JSON is not a JSON-RPC message of a kind that is accepted here. */
export const INVALID_REQUEST = -32600;

/** The method is unknown, or belongs to a capability that the server did not declare. */
export const METHOD_NOT_FOUND = -32601;

/** The parameters are malformed or name something that does not exist: a tool, a prompt, a resource, a cursor. */
export const INVALID_PARAMS = -32602;

/** The receiver failed for a reason of its own. */
export const INTERNAL_ERROR = -32603;

/** HTTP headers are missing, malformed, or disagree with the body. */
export const HEADER_MISMATCH = -32020;

/** The request needs a client capability that it does not declare; `data.requiredCapabilities` names it. */
export const MISSING_REQUIRED_CLIENT_CAPABILITY = -32021;

/** The server does not speak the revision of the request; `data.supported` lists those it speaks. */
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;
