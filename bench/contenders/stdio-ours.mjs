import { McpServer } from 'stateless-mcp/server';
import { serveStdio } from 'stateless-mcp/stdio';
import { answering } from '../answering.mjs';
import { serverInfo, withTools } from './tools.mjs';

serveStdio(withTools(new McpServer(serverInfo)));
answering();
