import type { McpResult } from './result.ts';

/** Names one request on one connection. Never forwarded, and never a key in a table that connections share. */
export type RequestId = string | number;

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
}

export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
}

export interface JsonRpcResultResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: McpResult;
}

export interface JsonRpcErrorResponse {
  readonly jsonrpc: '2.0';
  /** Absent when the request was too broken to have a readable id. */
  readonly id?: RequestId;
  readonly error: JsonRpcError;
}

/** What went wrong, as it is written on the wire. See `error-codes.ts` for the codes. */
export interface JsonRpcError {
  readonly code: number;
  /** One short sentence. */
  readonly message: string;
  /** Details, in a shape that the code defines. */
  readonly data?: unknown;
}

export type JsonRpcResponse = JsonRpcResultResponse | JsonRpcErrorResponse;

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;
