import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { answering } from '../answering.mjs';
import { serverInfo, withTools } from './tools.mjs';

serveStdio(() => withTools(new McpServer(serverInfo)));
answering();
