// Requests of the largest size that is accepted, made of parts that are slow to read.

import { z } from 'zod';
import type { Endpoint } from '#kernel/endpoint.ts';
import { ABSENT } from '#support/answers.ts';

export interface Attack {
  name: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

const HEAD_BYTES = 26_000; // next to a token and the other headers
/** Texts that expressions, splits and parsers may stumble over. */
export const SIGNS = [
  '[',
  '{',
  '(',
  '\t',
  ' ',
  ',',
  ';',
  ':',
  '=',
  '/',
  '\\',
  '"',
  '<',
  '&',
  '.',
  '-',
  'a',
  '0',
  'é',
  '%',
];
const rowOf = (sign: string, bytes: number): string =>
  sign.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(sign))));

/** Ids of existing records, by the beginning of a path. */
export type Known = Readonly<Record<string, string>>;

/** The address of an operation, of a thing that there is where it only reads or takes bytes. */
export function pathOf({ path, method, bodyMedia }: Endpoint, known: Known): string {
  const [start] = /^.*?:id/.exec(path) ?? [];
  const id = (method === 'get' || bodyMedia) && start ? (known[start] ?? ABSENT) : ABSENT;
  const samples: Record<string, string> = {
    ...{ rendition: 'v0', segment: '0.m4s', sheet: '320-0.webp', file: '0', code: 'AAAAAA', kind: 'poster', id },
  };
  return `/api/v1${path.replace(/:(\w+)/g, (_, name: string) => samples[name] ?? ABSENT)}`;
}

const namesOf = (schema: z.core.$ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

/** A JSON body whose members all are rows of one sign. */
function membersOf(endpoint: Endpoint, most: number, sign: string): string {
  const names = namesOf(endpoint.body);
  const text = (bytes: number): string => JSON.stringify(rowOf(sign, bytes)).slice(0, bytes);
  const closed = (json: string): string =>
    json.endsWith('"') && !json.endsWith('\\"') ? json : `${json.replace(/\\*$/, '')}"`;
  const share = Math.floor((most - 100) / Math.max(1, names.length)) - 60;
  const members = names.map((name) => `${JSON.stringify(name)}:${closed(text(Math.max(10, share)))}`);
  return `{${members.join(',')}}`;
}

const upTo = (most: number, piece: (i: number) => string): string => {
  const parts: string[] = [];
  for (let size = 0, i = 0; ; i += 1) {
    const part = piece(i);
    size += part.length;
    if (size > most) return parts.join('');
    parts.push(part);
  }
};

/** Sizes that the pipeline takes without and with a credential. */
const mostOf = ({ maxBodyBytes, access, proof }: Endpoint): number =>
  maxBodyBytes ?? ('anyone' in access && !proof ? 16 << 10 : 1 << 20);

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const BOUNDARY = 'b'.repeat(60);
const PARTS_TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

function jsonBodies(endpoint: Endpoint, signs: readonly string[]): Attack[] {
  const most = mostOf(endpoint);
  const [name = 'a'] = namesOf(endpoint.body);
  const named = (value: string): string => `{${JSON.stringify(name)}:${value}}`;
  const fields = upTo(most - 10, (i) => `${i === 0 ? '' : ','}"${i}":0`);
  const made: [string, string][] = [
    ['open brackets', rowOf('[', most)],
    ['open braces', upTo(most, () => '{"a":')],
    ['as deep and as many as may be', named(`${'['.repeat(30)}${'0,'.repeat(19_900)}0${']'.repeat(30)}`)],
    ['a list of numbers', named(`[${'0,'.repeat(Math.min(19_900, (most >> 1) - 100))}0]`)],
    ['a list of objects', named(`[${'{},'.repeat(Math.min(9900, Math.floor(most / 3) - 100))}{}]`)],
    ['unknown fields', `{${fields.split(',').slice(0, 19_000).join(',')}}`],
    ['a long name', `{"${'n'.repeat(most - 20)}":0}`],
    ['a long number', named('9'.repeat(most - 200))],
  ];
  const rows = signs.map((sign): [string, string] => [
    `members of ${JSON.stringify(sign)}`,
    membersOf(endpoint, most, sign),
  ]);
  return [...made, ...rows]
    .filter(([, body]) => Buffer.byteLength(body) <= most)
    .map(([what, body]) => ({ name: `body: ${what}`, body, headers: JSON_TYPE }));
}

function formBodies(endpoint: Endpoint): Attack[] {
  const most = mostOf(endpoint);
  const rows = ['&', '=', '%', '+', '0&', 'a=&'].map((sign) => rowOf(sign, most));
  return [upTo(most, (i) => `${i}&`), ...rows].map((body) => ({
    name: `form: ${body.slice(0, 10)}`,
    body,
    headers: FORM_TYPE,
  }));
}

function partBodies(endpoint: Endpoint): Attack[] {
  const most = mostOf(endpoint);
  const part = (head: string, text: string): string => `--${BOUNDARY}\r\n${head}\r\n\r\n${text}\r\n`;
  const field = (name: string): string => `Content-Disposition: form-data; name="${name}"`;
  const bodies = [
    upTo(most, (i) => part(field(String(i)), '')),
    part(field('"'.repeat(15_000)), 'x'),
    part(`Content-Disposition: form-data; ${'; '.repeat(8000)}`, 'x'),
    part(`${field('x')}; filename="${'\\'.repeat(15_000)}"`, 'x'),
    upTo(most, () => `--${BOUNDARY.slice(1)}`),
    upTo(most, () => '\r\n-'),
  ];
  return bodies.map((body, i) => ({ name: `parts ${i}`, body: `${body}--${BOUNDARY}--\r\n`, headers: PARTS_TYPE }));
}

function byteBodies(endpoint: Endpoint): Attack[] {
  const most = mostOf(endpoint);
  const rows = ['<!---->', '<?x ', '<!DOCTYPE [', '\t', '<', '\0', '<svg'].map((sign) => rowOf(sign, most));
  return [...rows, `${'<!---->'.repeat(40)} `].map((body) => ({
    name: `bytes: ${JSON.stringify(body.slice(0, 10))}`,
    body: Buffer.from(body),
    headers: { 'content-type': endpoint.bodyMedia?.[0] ?? '' },
  }));
}

function bodiesOf(endpoint: Endpoint, signs: readonly string[]): Attack[] {
  if (!endpoint.body) return [];
  if (endpoint.urlEncoded) return formBodies(endpoint);
  if (endpoint.bodyMedia) return byteBodies(endpoint);
  return [...jsonBodies(endpoint, signs), ...(endpoint.files ? partBodies(endpoint) : [])];
}

function queriesOf(endpoint: Endpoint, signs: readonly string[]): Attack[] {
  const names = namesOf(endpoint.query);
  const rows = signs
    .map((sign) => encodeURIComponent(sign))
    .flatMap((sign) => {
      const share = Math.floor(HEAD_BYTES / Math.max(1, names.length));
      return names.length === 0
        ? []
        : [names.map((name) => `${name}=${rowOf(sign, share - name.length - 2)}`).join('&')];
    });
  const numbers = upTo(HEAD_BYTES, (i) => `${i}&`);
  return [numbers, rowOf('&', HEAD_BYTES), rowOf('%', HEAD_BYTES), rowOf('a[', HEAD_BYTES), ...rows].map((query) => ({
    name: `query: ${query.slice(0, 30)}`,
    query,
  }));
}

/** All that any part of the server reads. */
export const HEADERS = [
  ...[
    'if-none-match',
    'if-match',
    'if-modified-since',
    'if-range',
    'range',
    'accept',
    'accept-encoding',
    'accept-language',
  ],
  ...[
    'cookie',
    'origin',
    'user-agent',
    'x-client-id',
    'x-client-name',
    'x-request-id',
    'x-forwarded-for',
    'x-forwarded-proto',
  ],
  ...['idempotency-key', 'last-event-id', 'content-type', 'referer', 'authorization'],
];

/** How the value begins, where a reader would stop at any other. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  authorization: 'Bearer ',
  cookie: 'foyer_session=',
  range: 'bytes=',
  'content-type': 'application/',
};

const headerOf = (name: string, sign: string): Attack => ({
  name: `header ${name}: ${JSON.stringify(sign)}`,
  headers: { [name]: `${BEGINNINGS[name] ?? ''}a${rowOf(sign, HEAD_BYTES)}b` },
});

const HEADER_SIGNS = ['\t', ',', ';', '=', '"', 'W/"', 'bytes=0-,', '0-0,', ' ,', 'a.', '%'];

/** Of headers `few` for one operation, other ones for the next: each header and sign is sent to many. */
function headersOf(at: number, few: number | undefined): Attack[] {
  const all = HEADERS.flatMap((name) => HEADER_SIGNS.map((sign) => headerOf(name, sign)));
  if (few === undefined) return all;
  return Array.from({ length: few }, (_, i) => all[((at * few + i) * 7) % all.length] as Attack);
}

export interface Amount {
  signs: readonly string[];
  /** Headers of each operation; all of them when absent. */
  headers?: number;
}

/** The values sent to the operation at this place of the list. */
export function attacksOn(endpoint: Endpoint, at: number, { signs, headers }: Amount): Attack[] {
  return [...bodiesOf(endpoint, signs), ...queriesOf(endpoint, signs), ...headersOf(at, headers)];
}
