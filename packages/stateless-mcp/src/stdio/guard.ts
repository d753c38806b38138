/**
 * Import this before everything else, and nothing that prints while it is loaded can get into the protocol.
 *
 * @example import 'stateless-mcp/stdio/guard';
 */
import { protectStdout } from './protect-stdout.ts';

protectStdout();
