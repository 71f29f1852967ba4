// A client of the server's public HTTP API, with the operator's key.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange, type Pool } from './exchange.ts';

const TIMEOUT_MS = 10_000;
/** The server opens every picture of a form before it answers. */
const FORM_MS = 120_000;
/** A server may report many errors. */
const MESSAGE_MAX = 2000;

export interface Answer {
  status: number;
  body: unknown;
}

interface FilePart {
  /** Name of the part. */
  part: string;
  name: string;
  type: string;
  bytes: Buffer;
}

/** A body of multipart/form-data: fields of text, and one file. */
export class FormFile {
  readonly type: string;
  readonly bytes: Buffer;
  constructor(fields: Readonly<Record<string, string>>, file: FilePart) {
    const border = `----${randomUUID()}`;
    const texts = Object.entries(fields).map(
      ([name, text]) => `--${border}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
    );
    const named = `name="${file.part}"; filename="${file.name}"`;
    const head = `--${border}\r\nContent-Disposition: form-data; ${named}\r\nContent-Type: ${file.type}\r\n\r\n`;
    this.type = `multipart/form-data; boundary=${border}`;
    this.bytes = Buffer.concat([Buffer.from(texts.join('') + head), file.bytes, Buffer.from(`\r\n--${border}--\r\n`)]);
  }
}

export type SendRequest = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** The server was unreachable; an error status is a response. */
export class Unreachable extends Error {}

/** `base` is the server's URL, such as http://127.0.0.1:8080. Without a pool each request opens a connection. */
export function serverClient(base: string, key: string, pool?: Pool): SendRequest {
  return async (method, path, body) => {
    const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
    if (body !== undefined) headers['Content-Type'] = body instanceof FormFile ? body.type : 'application/json';
    const timeoutMs = body instanceof FormFile ? FORM_MS : TIMEOUT_MS;
    const sent = { method, headers, timeoutMs, ...(pool && { pool }) };
    try {
      const content = body instanceof FormFile ? body.bytes : JSON.stringify(body);
      const given = body === undefined ? {} : { body: content };
      const { status, text } = await exchange(`${base}/api/v1${path}`, { ...sent, ...given });
      return { status, body: jsonOf(text) };
    } catch (error) {
      throw new Unreachable((error as Error).message);
    }
  };
}

function jsonOf(text: string): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

interface Refused {
  code?: string;
  message?: string;
  details?: { reason?: string; issues?: { path: (string | number)[]; message: string }[] };
}

/** `409 CONFLICT duplicate-name: A library of that name exists already (body.name: taken)`, for a condition. */
export function refusalText({ status, body }: Answer): string {
  const { code, message, details = {} } = (body as { error?: Refused } | undefined)?.error ?? {};
  const words = [String(status), code, details.reason].filter(Boolean).join(' ');
  const issues = (details.issues ?? []).map(({ path, message: text }) => `${path.join('.')}: ${text}`);
  const where = issues.length > 0 ? ` (${issues.join('; ')})` : '';
  return `${message ? `${words}: ${message}` : words}${where}`.slice(0, MESSAGE_MAX);
}

/** True for any HTTP response: the event loop of the process turns. */
export async function answersHttp(port: number, path = '/'): Promise<boolean> {
  await exchange(`http://127.0.0.1:${port}${path}`, { timeoutMs: 2000 });
  return true;
}

/** Waits until `holds` returns true; false after the timeout. */
export async function until(holds: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  while (Date.now() < end) {
    if (await holds().catch(() => false)) return true;
    await sleep(50);
  }
  return false;
}
