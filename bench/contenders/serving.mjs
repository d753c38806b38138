import { answering } from '../answering.mjs';

/** Tells the benchmark where this process serves. */
export function serving(url) {
  answering();
  process.send({ url });
}
