// Basic and Digest (RFC 2617, RFC 7616) as servers of RTSP use them.
import { createHash, randomBytes } from 'node:crypto';
import type { Credential } from '../../source.ts';

const HASHES: Readonly<Record<string, string>> = { MD5: 'md5', 'SHA-256': 'sha256' };
/** The lookbehind keeps the search linear. */
const PARAMETER = /(?<![\w-])([\w-]+)=(?:"([^"]*)"|([^\s,"]+))/g;

/** Servers of before RFC 2617 name no quality of protection. */
const takesAuth = (qop: string | undefined): boolean => qop === undefined || qop.split(/[\s,]+/).includes('auth');

type Parameters = Partial<Record<string, string>>;

const parametersOf = (text: string): Parameters =>
  Object.fromEntries(
    [...text.matchAll(PARAMETER)].map(([, name = '', quoted, bare]) => [name.toLowerCase(), quoted ?? bare]),
  );

/** Answers the challenges of one server; a password is sent in the clear only where the server offers nothing else. */
export class Authorization {
  readonly #credential: Credential;
  readonly #challenges: readonly string[];
  #uses = 0;

  constructor(credential: Credential, challenges: readonly string[]) {
    this.#credential = credential;
    this.#challenges = challenges;
  }

  /** The header for a request; undefined for challenges of unknown kinds. */
  header(method: string, url: string): string | undefined {
    const { username, password } = this.#credential;
    for (const challenge of this.#challenges.filter((one) => /^digest\s/i.test(one))) {
      const header = this.#digest(parametersOf(challenge), method, url);
      if (header) return header;
    }
    if (!this.#challenges.some((one) => /^basic\b/i.test(one))) return undefined;
    return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  #digest(
    { realm = '', nonce = '', opaque, qop, algorithm }: Parameters,
    method: string,
    uri: string,
  ): string | undefined {
    const kind = HASHES[(algorithm ?? 'MD5').toUpperCase()];
    const plain = qop === undefined;
    if (!kind || !takesAuth(qop)) return undefined;
    const hash = (...parts: string[]): string => createHash(kind).update(parts.join(':')).digest('hex');
    const { username, password } = this.#credential;
    const cnonce = randomBytes(8).toString('hex');
    this.#uses += 1;
    const nc = this.#uses.toString(16).padStart(8, '0');
    const secret = hash(username, realm, password);
    const target = hash(method, uri);
    const response = plain ? hash(secret, nonce, target) : hash(secret, nonce, nc, cnonce, 'auth', target);
    const quoted = {
      username: Buffer.from(username.replace(/["\\]/g, '\\$&')).toString('latin1'), // its bytes are UTF-8
      realm,
      nonce,
      uri,
      response,
      ...(opaque !== undefined && { opaque }),
    };
    const fields = Object.entries(quoted).map(([name, value]) => `${name}="${value}"`);
    if (algorithm) fields.push(`algorithm=${algorithm}`);
    if (!plain) fields.push('qop=auth', `nc=${nc}`, `cnonce="${cnonce}"`);
    return `Digest ${fields.join(', ')}`;
  }
}
