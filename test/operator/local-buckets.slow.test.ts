// spec.media[].s3 on one machine: a library whose films lie in a bucket of a real S3 server.
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { s3Place } from '#support/remote-places.ts';
import { ACCESS, SECRET } from '#support/s3.ts';
import { eventually } from '#support/stores.ts';
import { Machine } from '../faults/machine.ts';

const SECRETS = `---
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { accessKey: ${ACCESS}, secretKey: ${SECRET} }
`;
const LIBRARY = `---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: films }
spec: { serverRef: { name: home }, type: movies, folders: [{ media: cloud, path: / }] }
`;

/** The S3 server under an address of this machine that is not loopback, which storages never reach. */
async function reachable(port: number): Promise<{ server: Server; endpoint: string }> {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const host = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '';
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const socket of [from, to]) socket.on('error', () => [from, to].forEach((one) => void one.destroy()));
    from.pipe(to).pipe(from);
  });
  await once(server.listen(0, host), 'listening');
  return { server, endpoint: `http://${host}:${(server.address() as { port: number }).port}` };
}

describe('a bucket of operator local', function () {
  this.timeout(300_000);
  let machine: Machine;
  let server: Server;
  before(async () => {
    const { settings, put } = await s3Place();
    await put('Heat (1995)/Heat (1995).mkv', Buffer.from('no film, and named as one'));
    const forwarded = await reachable(Number(new URL(String(settings['endpoint'])).port));
    server = forwarded.server;
    const { bucket, prefix } = settings;
    const s3 = { endpoint: forwarded.endpoint, bucket, prefix, secretRef: { name: 'keys' } };
    machine = new Machine({ apis: 1, media: [{ name: 'cloud', s3 }], documents: SECRETS });
    await machine.start();
  });
  after(async () => {
    await machine.stop();
    server.close();
  });

  it('is a storage that holds the folder of a library, which is scanned', async () => {
    machine.declare('', LIBRARY);
    const reported = async (type: string): Promise<string> => {
      const conditions = (await machine.status()).flatMap(
        ({ status }) => (status.conditions ?? []) as { type?: string; reason?: string; status?: string }[],
      );
      return conditions
        .filter((one) => one.type === type)
        .map(({ status, reason }) => `${status} ${reason}`)
        .join();
    };
    await eventually(async () => (await reported('MediaReady')) === 'True Valid', 60_000);
    await eventually(async () => (await reported('FoldersAvailable')) === 'True FoldersFound', 60_000);
    const { items } = (await machine.owner.listStorages()).body;
    const cloud = items.find(({ kind }) => kind === 's3');
    expect(cloud).to.include({ name: 'cloud', state: 'available' });
    const [library] = (await machine.owner.listLibraries()).body;
    expect(library?.folders.map(({ storageId }) => storageId)).to.deep.equal([cloud?.id]);
    await eventually(async () => (await reported('Scanned')) === 'True Completed', 60_000);
  });
});
