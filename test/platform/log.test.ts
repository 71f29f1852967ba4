import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLog } from '#platform/log.ts';

const SECRET = 'hunter2hunter2';

describe('log', () => {
  /** The output of the process. */
  const printed = (write: (log: ReturnType<typeof createLog>) => void): string => {
    let text = '';
    const to = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    write(createLog('info', 'test', to));
    return text;
  };

  it('omits members that are secret by their name, at any depth and in any letter case', () => {
    const names = [
      'password',
      'newPassword',
      'currentPassword',
      'password_hash',
      'token',
      'accessToken',
      'refreshToken',
    ];
    const more = ['secret', 'clientSecret', 'code', 'ticket', 'authorization', 'Authorization', 'cookie', 'set-cookie'];
    for (const name of [...names, ...more, 'pin', 'apiKey', 'x-plex-token', 'jwk']) {
      for (const line of [
        { [name]: SECRET },
        { a: { [name]: SECRET } },
        { a: { b: { c: { d: { [name]: SECRET } } } } },
        { list: [{ [name]: [SECRET] }] },
      ]) {
        const text = printed((log) => log.info(line, 'said'));
        expect(text, JSON.stringify(line)).to.include('said').and.not.include(SECRET);
      }
    }
  });

  it('omits them from the members of an error too, and keeps the error', () => {
    const error = Object.assign(new Error('failed', { cause: Object.assign(new Error('deep'), { token: SECRET }) }), {
      config: { headers: { authorization: SECRET } },
      password: SECRET,
    });
    const text = printed((log) => log.error({ err: error }, 'said'));
    expect(text)
      .to.include('"type":"Error","message":"failed: deep"')
      .and.include('log.test.ts')
      .and.not.include(SECRET);
  });

  it('leaves out text that looks like a secret, wherever it stands', () => {
    const key = `foyer_${'a'.repeat(43)}`;
    const fields = { err: new Error(`connect postgres://foyer:${SECRET}@db:5432/foyer`), line: [`GET /x?key=${key}`] };
    const text = printed((log) => log.warn({ ...fields, jwt: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2ln' }, 'said'));
    expect(text).to.include('postgres://[redacted]@db:5432/foyer').and.include('GET /x?key=[redacted]');
    for (const secret of [SECRET, key, 'eyJ']) expect(text).to.not.include(secret);
  });

  it('keeps members that are not secret, whole', () => {
    const at = new Date(0);
    const kept = { status: 200, errorCode: 'X', tokens: 3, list: [1, 'a', null], at, nothing: null, keyId: 'k' };
    const line = JSON.parse(printed((log) => log.info(kept, 'said'))) as Record<string, unknown>;
    expect(line).to.deep.include({ ...kept, at: at.toISOString(), name: 'test', msg: 'said' });
  });

  it('survives circular references', () => {
    const round: { self?: unknown } = {};
    round.self = round;
    expect(printed((log) => log.info({ round }, 'said'))).to.include('said');
  });
});
