import { connect } from 'node:net';
import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';

describe('bytes that never become a request', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  const say = (text: string): Promise<string> =>
    new Promise((done) => {
      const chunks: Buffer[] = [];
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', () => undefined);
      socket.on('close', () => done(Buffer.concat(chunks).toString('latin1')));
    });
  const parsed = (answer: string) => {
    const [head = '', body = '{}'] = answer.split('\r\n\r\n');
    return { head, error: (JSON.parse(body) as { error: { code: string; details: object; requestId: string } }).error };
  };

  it('is refused by the envelope: a head too large', async () => {
    const { head, error } = parsed(
      await say(`GET /api/v1/items?filter=${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`),
    );
    expect(head).to.match(/^HTTP\/1\.1 413 /);
    expect(error).to.deep.include({ code: 'PAYLOAD_TOO_LARGE', details: { maxBytes: 32_768 } });
    expect(head).to.include(`X-Request-Id: ${error.requestId}`);
  });

  it('is rejected by the envelope: bytes that are no HTTP', async () => {
    for (const text of [
      '\x16\x03\x01 hello\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n',
      'GET\r\n\r\n',
    ]) {
      const { head, error } = parsed(await say(text));
      expect(head, text).to.match(/^HTTP\/1\.1 400 /);
      expect(error.code, text).to.equal('VALIDATION_FAILED');
    }
  });

  it('is refused by the envelope: two names of the server', async () => {
    const { head, error } = parsed(
      await say('GET /api/v1/server/live HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'),
    );
    expect(head).to.match(/^HTTP\/1\.1 400 /);
    expect(JSON.stringify(error.details)).to.include('"path":["headers","host"],"code":"duplicate"');
  });

  it('is not the longest filter that the contract allows, all of it escaped', async () => {
    const filter = encodeURIComponent('\u{1F3AC}'.repeat(2000));
    const response = await api.fetch(`/api/v1/items?filter=${filter}`, { headers: (await api.given.admin()).headers });
    expect(response.status).to.equal(400);
    const { error } = (await response.json()) as { error: { code: string } };
    expect(error.code).to.equal('VALIDATION_FAILED');
  });
});
