import { headerMutations } from './header-mutations.ts';
import { httpMutations } from './http-mutations.ts';
import { metadataMutations } from './metadata-mutations.ts';
import { rpcMutations } from './rpc-mutations.ts';
import { streamMutations } from './stream-mutations.ts';
import type { WireMutation } from './wire-model.ts';

/** Every way in which the tests of the wire are known to notice a violation. */
export const mutations: readonly WireMutation[] = [
  ...rpcMutations,
  ...metadataMutations,
  ...streamMutations,
  ...httpMutations,
  ...headerMutations,
];
