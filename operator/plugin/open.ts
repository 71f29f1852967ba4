import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { KubeObject } from '../runtime/kube.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import { type Cluster, Refused, wordsOf } from './cluster.ts';

const API_PORT = 8080;

/** Forwards a local port to the server's API, through the API server, until the process ends. */
export async function forwardApi(cluster: Cluster, server: KubeObject, port: number): Promise<string> {
  await readyPod(cluster, server);
  const local = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    readyPod(cluster, server)
      .then((pod) => cluster.forward(pod, API_PORT, { to: socket, from: socket }))
      .catch((error: Error) => {
        process.stderr.write(`the connection to the server failed: ${wordsOf(error)}\n`);
        socket.destroy();
      });
  });
  local.listen(port, '127.0.0.1');
  await once(local, 'listening').catch((error: Error) => {
    throw new Refused(`port ${port} of this machine: ${error.message}; another one with --port`);
  });
  return `http://127.0.0.1:${(local.address() as AddressInfo).port}`;
}

/** Looked up for each connection, so that the forwarding survives a replaced pod. */
async function readyPod(cluster: Cluster, { metadata }: KubeObject): Promise<string> {
  const labels = { 'app.kubernetes.io/instance': metadata.name, 'app.kubernetes.io/component': 'api' };
  const pods = (await cluster.list('v1', 'Pod', labels)) ?? [];
  cluster.insist();
  const ready = pods.find((pod) => {
    const { conditions = [] } = pod.status as { conditions?: { type: string; status: string }[] };
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  });
  if (!ready) throw new Refused(`no API pod of ${metadata.name} is ready; see: kubectl mediaserver doctor`);
  return ready.metadata.name;
}

/** The setup link while no owner exists; undefined afterwards, or without the permission to read the Secret. */
export async function setupLink(cluster: Cluster, server: KubeObject, base: string): Promise<string | undefined> {
  const name = (server.status as MediaServerStatus | undefined)?.claim?.secretName;
  const secret = name ? await cluster.secret(name) : undefined;
  const code = (secret?.data as Record<string, string> | undefined)?.code;
  return code ? `${base}/setup#claim=${Buffer.from(code, 'base64').toString('utf8')}` : undefined;
}

/** The public URL, when an Ingress or an accepted route serves it. */
export function publicAddress({ status }: KubeObject): string | undefined {
  const { url, conditions = [] } = (status ?? {}) as MediaServerStatus;
  const isOpen = conditions.some(({ type, status: holds }) => type === 'IngressReady' && holds === 'True');
  return isOpen ? url : undefined;
}
