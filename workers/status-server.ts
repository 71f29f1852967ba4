import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

export interface Page {
  /** 200 when absent. */
  status?: number;
  body: unknown;
}

/** JSON pages of a worker that is no API: for the kubelet and the operator, inside the cluster alone. */
export async function serveStatus(
  pages: Readonly<Record<string, () => Page>>,
  { host, port }: { host: string; port: number },
): Promise<Server> {
  const server = createServer((request, response) => {
    const asked = request.method === 'GET' || request.method === 'HEAD' ? pages[request.url ?? ''] : undefined;
    const { status = 200, body } = asked?.() ?? { status: 404, body: {} };
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify(body));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}
