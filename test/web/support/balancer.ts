// One address in front of several pods, as the Service of a cluster is: a connection goes to the first pod that accepts it.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd } from '#support/stores.ts';

export interface Balancer {
  url: string;
  /** Refuses new connections and breaks the open ones. */
  cut(): void;
  restore(): void;
}

const portOf = (url: string): number => Number(new URL(url).port);

/** Connects to the first of the ports that is open. */
async function reach(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (isOpen) return socket;
    socket.destroy();
  }
  return undefined;
}

export async function balancer(pods: readonly string[]): Promise<Balancer> {
  const ports = pods.map(portOf);
  const open = new Set<Socket>();
  let isCut = false;
  const serve = async (client: Socket): Promise<void> => {
    client.on('error', () => undefined);
    open.add(client);
    client.once('close', () => open.delete(client));
    const pod = isCut ? undefined : await reach(ports);
    if (!pod) {
      client.resetAndDestroy();
      return;
    }
    pod.on('error', () => undefined);
    pod.once('close', () => client.resetAndDestroy());
    client.once('close', () => pod.destroy());
    client.pipe(pod).pipe(client);
  };
  const server = createServer((client) => void serve(client)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  atEnd(() => {
    breakAll();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      breakAll();
    },
    restore() {
      isCut = false;
    },
  };
}
