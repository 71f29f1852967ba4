import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A passkey device in software: ES256, a counter, and a person who is there. */
export interface Authenticator {
  id: string;
  /** The answer of a browser to `navigator.credentials.create`. */
  create(options: object, more?: Partial<Circumstances>): object;
  /** Its answer to `navigator.credentials.get`. */
  get(options: object, more?: Partial<Circumstances>): object;
}

interface Circumstances {
  origin: string;
  rpId: string;
  counter: number;
  userVerified: boolean;
}

const head = (major: number, n: number): Buffer => {
  if (n < 24) return Buffer.from([(major << 5) | n]);
  return n < 256 ? Buffer.from([(major << 5) | 24, n]) : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
};
/** As much of CBOR as an attestation needs. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, one]) => [cbor(key), cbor(one)])]);
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const text = (data: Buffer): string => data.toString('base64url');
const PRESENT = 1;
const VERIFIED = 4;
const ATTESTED = 64;

export function authenticator(at: { origin: string; rpId: string }): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const id = randomBytes(20);
  let counter = 0;
  const point = (name: 'x' | 'y'): Buffer => Buffer.from(jwk[name] ?? '', 'base64url');
  const cose = cbor(
    new Map<unknown, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point('x')],
      [-3, point('y')],
    ]),
  );
  const clientData = (type: string, challenge: string, origin: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authData = (rpId: string, flags: number, count: number): Buffer => {
    const fixed = Buffer.alloc(5);
    fixed[0] = flags;
    fixed.writeUInt32BE(count, 1);
    return Buffer.concat([sha256(rpId), fixed]);
  };
  const challengeOf = (options: object): string => (options as { challenge: string }).challenge;
  const wrap = (response: object): object => ({
    id: text(id),
    rawId: text(id),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });
  return {
    id: text(id),
    create(options, more = {}) {
      const { origin, rpId } = { ...at, ...more };
      const flags = PRESENT | ATTESTED | (more.userVerified === false ? 0 : VERIFIED);
      const length = Buffer.from([0, id.length]);
      const data = Buffer.concat([authData(rpId, flags, counter), Buffer.alloc(16), length, id, cose]);
      const attestation = new Map<unknown, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', data],
      ]);
      return wrap({
        clientDataJSON: text(clientData('webauthn.create', challengeOf(options), origin)),
        attestationObject: text(cbor(attestation)),
        transports: ['internal'],
      });
    },
    get(options, more = {}) {
      const { origin, rpId } = { ...at, ...more };
      counter = more.counter ?? counter + 1;
      const data = authData(rpId, PRESENT | (more.userVerified === false ? 0 : VERIFIED), counter);
      const client = clientData('webauthn.get', challengeOf(options), origin);
      return wrap({
        clientDataJSON: text(client),
        authenticatorData: text(data),
        signature: text(sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)),
      });
    },
  };
}
