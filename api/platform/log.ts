import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

const SECRET =
  /^(code|pin|cookie|set-cookie|authorization|ticket|jwk)$|password|passphrase|credential|secret|token$|(api|private)[-_]?key$/i;
/** Secrets recognized by their form: our keys and tickets, tokens, and credentials in a URL. */
const LOOKS = /\bfoy[a-z]*_[\w-]{20,}|(?<=:\/\/)[^/\s:@]*:[^/\s@]+(?=@)/g;
const DOTTED = /[\w.-]+/g;

/** A signed token has three parts; text joined to it by dots is removed too. */
function withoutToken(word: string): string {
  const at = word.search(/\beyJ[\w-]{8}/);
  return at >= 0 && word.slice(at).split('.', 3).length === 3 ? '[redacted]' : word;
}

const DEPTH = 8;

/** The value without members whose names mark a secret; pino's own redaction only reaches given depths. */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replace(LOOKS, '[redacted]').replace(DOTTED, withoutToken);
  if (typeof value !== 'object' || value === null || value instanceof Date || Buffer.isBuffer(value)) return value;
  if (depth > DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, depth + 1));
  if (value instanceof Error) return withoutSecrets(pino.stdSerializers.err(value), depth + 1);
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => [
    name,
    SECRET.test(name) && one !== null && one !== undefined ? '[redacted]' : withoutSecrets(one, depth + 1),
  ]);
  return Object.fromEntries(entries);
}

const MOST_WAITING = 1 << 20;
const AGAIN_MS = 5000;

/**
 * Standard output. Lines that cannot be written, as on a full disk, are buffered up to a megabyte and then dropped.
 * Nothing is flushed at the exit in that case, because sonic-boom would retry for ever.
 */
function standardOutput(): DestinationStream {
  const out = pino.destination({ dest: 1, maxLength: MOST_WAITING });
  const flush = out.flushSync.bind(out);
  let again: NodeJS.Timeout | undefined;
  out.on('error', () => {
    out.flushSync = () => undefined;
    clearTimeout(again);
    again = setTimeout(() => out.write(''), AGAIN_MS).unref(); // an empty line triggers another try without adding to the buffer
  });
  out.on('drain', () => {
    out.flushSync = flush;
    clearTimeout(again);
  });
  return out;
}

/** JSON lines on standard output, or to `to`. Bindings of a child logger are not redacted: bind ids only. */
export function createLog(level: string, name: string, to: DestinationStream = standardOutput()): Log {
  const clean = (line: object): Record<string, unknown> => withoutSecrets(line) as Record<string, unknown>;
  const serializers = { err: (error: unknown) => error }; // an error is plain data by then
  const timestamp = pino.stdTimeFunctions.isoTime;
  const formatters = { level: (label: string) => ({ level: label }), log: clean };
  return pino({ level, base: { name }, timestamp, serializers, formatters }, to);
}
