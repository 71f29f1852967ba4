// Space on the volumes of managed stores, as the stores report it, because only their own pods mount the volumes.
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Db } from '#platform/db.ts';
import type { VolumeSpace } from '#platform/store-volumes.ts';

const PATIENCE_MS = 10_000;

/**
 * Space of the file system of the data directory. The role of a managed Postgres may run a program on it; that of an
 * external database rarely may, and is not used for this.
 */
export async function postgresSpace(db: Db): Promise<VolumeSpace> {
  const lines = await db.transaction(async (inside) => {
    await inside.raw('create temporary table foyer_space (line text) on commit drop');
    await inside.raw(`copy foyer_space from program 'timeout 10 df -Pk .'`);
    const { rows } = await inside.raw<{ rows: { line: string }[] }>('select line from foyer_space');
    return rows.map(({ line }) => line);
  });
  const found = /\s(\d+)\s+\d+\s+(\d+)\s+\d+%\s/.exec(lines.at(-1) ?? '');
  if (!found) throw new Error('df of the data directory of Postgres was not understood');
  return { total: Number(found[1]) * 1024, free: Number(found[2]) * 1024 };
}

const CLUSTER = '/minio/v2/metrics/cluster';
const SAMPLES = {
  total: 'minio_cluster_capacity_usable_total_bytes',
  free: 'minio_cluster_capacity_usable_free_bytes',
};

/** Space of a managed MinIO, which serves no TLS, from its metrics; the secret key gives access. */
export async function objectsSpace(objectsUrl: string): Promise<VolumeSpace> {
  const { hostname, port, username, password } = new URL(objectsUrl);
  const address = `http://${hostname}:${port || 80}${CLUSTER}`;
  const token = metricsToken(decodeURIComponent(username), decodeURIComponent(password));
  const lines = (await getText(address, token)).split('\n');
  const read = (name: string): number => {
    const line = lines.find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
    const value = Number(line?.split(' ').at(-1));
    if (!Number.isFinite(value)) throw new Error(`MinIO does not report ${name}`);
    return value;
  };
  return { total: read(SAMPLES.total), free: read(SAMPLES.free) };
}

/** A token like that of `mc admin prometheus generate`, for a minute. */
function metricsToken(accessKey: string, secretKey: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { exp: Math.floor(Date.now() / 1000) + 60, sub: accessKey, iss: 'prometheus' };
  const signed = `${part({ alg: 'HS512', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha512', secretKey).update(signed).digest('base64url')}`;
}

function getText(address: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const sent = request(address, { agent: false, headers, signal }, (answer) => {
      if (answer.statusCode === 200) {
        text(answer).then(resolve, reject);
        return;
      }
      answer.resume();
      reject(new Error(`MinIO answered its metrics with status ${answer.statusCode}`));
    });
    sent.on('error', reject);
    sent.end();
  });
}
