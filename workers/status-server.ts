import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

export interface Page {
  /** Default 200. */
  status?: number;
  body: unknown;
}

/** JSON status pages of a worker, for the kubelet and the operator, inside the cluster only. */
export async function serveStatus(
  pages: Readonly<Record<string, () => Page>>,
  { host, port }: { host: string; port: number },
): Promise<Server> {
  const server = createServer((request, response) => {
    const page = request.method === 'GET' || request.method === 'HEAD' ? pages[request.url ?? ''] : undefined;
    const { status = 200, body } = page?.() ?? { status: 404, body: {} };
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify(body));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}
