import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { volumesIn } from '#operator/media-server/store-volumes.ts';
import { serveVolumeMetrics } from '#platform/store-volumes.ts';
import { type Api, startApi } from '#support/api.ts';
import { atEnd } from '#support/stores.ts';
import { lookAtDisks } from '../../workers/disk-watch.ts';
import { objectsSpace, postgresSpace } from '../../workers/store-space.ts';

const GIB = 2 ** 30;
const SECRET = 'secret/with+signs';

describe('space of the volumes of managed stores', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
    await api.given.owner();
  });

  /** A MinIO that serves its metrics to holders of a token of its secret key. */
  const minio = async (capacity: { free: number }): Promise<string> => {
    const server = createServer((request, response) => {
      const [head = '', claims = '', signature = ''] = String(request.headers.authorization).slice(7).split('.');
      const wanted = createHmac('sha512', SECRET).update(`${head}.${claims}`).digest('base64url');
      const { sub, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: string; exp: number };
      const valid = signature === wanted && sub === 'minio' && exp * 1000 > Date.now();
      response.statusCode = valid && request.url === '/minio/v2/metrics/cluster' ? 200 : 403;
      const sample = (name: string, value: number): string =>
        `# TYPE minio_cluster_capacity_${name} gauge\nminio_cluster_capacity_${name}{server="127.0.0.1:9000"} ${value.toExponential()}\n`;
      const usable = sample('usable_free_bytes', capacity.free) + sample('usable_total_bytes', 20 * GIB);
      response.end(sample('raw_free_bytes', 1) + usable);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    return `s3://minio:${encodeURIComponent(SECRET)}@127.0.0.1:${(server.address() as AddressInfo).port}/?prefix=x`;
  };

  it('is read from Postgres, which reports that of its data directory', async () => {
    const measured = await postgresSpace(api.deps.db);
    const { rows } = await api.deps.db.raw<{ rows: { folder: string }[] }>(
      `select current_setting('data_directory') as folder`,
    );
    const { bavail, blocks, bsize } = await statfs(rows[0]?.folder ?? '');
    expect(measured.total).to.be.closeTo(blocks * bsize, GIB / 1000);
    expect(measured.free).to.be.closeTo(bavail * bsize, GIB);
    const again = await postgresSpace(api.deps.db);
    expect(again.total).to.equal(measured.total);
  });

  it('is read from MinIO with a token of its secret key', async () => {
    const url = await minio({ free: 3 * GIB });
    expect(await objectsSpace(url)).to.deep.equal({ free: 3 * GIB, total: 20 * GIB });
    const refused = await objectsSpace(url.replace('minio:', 'other:')).catch((error: Error) => error.message);
    expect(refused).to.include('status 403');
  });

  it('is notified of once while it is low, and reported to the operator', async () => {
    const capacity = { free: 1.9 * GIB };
    const objectsUrl = await minio(capacity);
    const storeVolumes = { postgres: 'data-home-postgres-0', objects: 'data-home-objects-0' };
    const deps = { ...api.deps, config: { ...api.config, objectsUrl, storeVolumes } };
    const registry = new Registry();
    serveVolumeMetrics(api.deps.redis, registry);
    const notices = async (): Promise<string[]> =>
      (await api.deps.db('notifications').where({ kind: 'disk-low' })).map((row) => JSON.stringify(row));
    const ofVolumes = async () => (await notices()).filter((row) => row.includes('data-home-objects-0'));
    await lookAtDisks(deps);
    await lookAtDisks(deps);
    expect(await ofVolumes()).to.have.length(1);
    const reported = volumesIn(await registry.metrics());
    expect(reported.map(({ name }) => name).sort()).to.deep.equal(['data-home-objects-0', 'data-home-postgres-0']);
    expect(reported.find(({ name }) => name.includes('objects'))).to.include({ free: 1.9 * GIB, total: 20 * GIB });
    capacity.free = 9 * GIB;
    await lookAtDisks(deps);
    capacity.free = 1 * GIB;
    await lookAtDisks(deps);
    expect((await ofVolumes()).join()).to.match(/"count":2|data-home-objects-0.*data-home-objects-0/);
  });

  it('is not reported once it was not measured for five minutes, nor where the stores are managed elsewhere', async () => {
    const registry = new Registry();
    serveVolumeMetrics(api.deps.redis, registry);
    await api.deps.redis.flushdb();
    const old = JSON.stringify({ free: 1, total: 2, at: Date.now() - 301_000 });
    await api.deps.redis.hset('foyer:store-volumes', 'data-home-postgres-0', old);
    await lookAtDisks({ ...api.deps, config: api.config });
    expect(volumesIn(await registry.metrics())).to.deep.equal([]);
  });
});
