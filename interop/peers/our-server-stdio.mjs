// Our server as a process that speaks over its standard streams. What it prints must never get into the protocol: neither
// what a module prints while it is loaded, nor what a tool prints while it runs.
// oxlint-disable import/no-unassigned-import
import 'stateless-mcp/stdio/guard';
import './prints-when-loaded.mjs';
import { serveStdio } from 'stateless-mcp';
import { createOurServer } from './our-server.mjs';

const limit = 64 * 1024 * 1024;
serveStdio(
  createOurServer((text) => console.log(text)),
  { maxMessageBytes: limit, maxResponseBytes: limit },
);
