import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';

describe('coding of JSON answers', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });

  interface Sent {
    status: number | undefined;
    headers: Record<string, string | string[] | undefined>;
    bytes: Buffer;
  }

  /** Without the decompression of fetch. */
  const sent = (path: string, headers: Record<string, string>): Promise<Sent> =>
    new Promise((resolve, reject) => {
      get(`${api.url}/api/v1${path}`, { headers: { ...owner.headers, ...headers } }, (response) => {
        const { statusCode: status, headers: received } = response;
        buffer(response).then((bytes) => resolve({ status, headers: received, bytes }), reject);
      }).on('error', reject);
    });

  const long = '/settings/schema';

  it('compresses a long answer by the smallest coding that the client takes', async () => {
    const plain = await sent(long, {});
    expect([plain.headers['content-encoding'], plain.headers.vary]).to.deep.equal([undefined, 'Accept-Encoding']);
    const gzip = await sent(long, { 'accept-encoding': 'gzip, br;q=0' });
    const brotli = await sent(long, { 'accept-encoding': 'gzip, deflate, br' });
    expect([gzip, brotli].map(({ headers }) => headers['content-encoding'])).to.deep.equal(['gzip', 'br']);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).to.equal(true);
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).to.equal(true);
    expect(brotli.bytes.length).to.be.lessThan(plain.bytes.length / 3);
  });

  it('sends a short answer as it is', async () => {
    expect((await sent('/server/info', { 'accept-encoding': 'br' })).headers['content-encoding']).to.equal(undefined);
  });

  it('has an entity tag for each coding, and knows each of them', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const [plain, gzip] = [await sent('/themes?tokens=true', {}), await sent('/themes?tokens=true', headers)];
    const tag = String(gzip.headers.etag);
    expect(tag).to.not.equal(plain.headers.etag);
    const again = await sent('/themes?tokens=true', { ...headers, 'if-none-match': tag });
    expect([again.status, again.bytes.length]).to.deep.equal([304, 0]);
  });
});
