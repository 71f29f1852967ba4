import { type Logger, pino } from 'pino';

export type Log = Logger;

const SECRET = [
  'password',
  'token',
  'accessToken',
  'refreshToken',
  'secret',
  'code',
  'ticket',
  'authorization',
  'cookie',
  'pin',
];

/** JSON lines on standard output. pino redacts one level a path, so each secret name is listed at three depths. */
export function createLog(level: string, name: string): Log {
  return pino({
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET.flatMap((word) => [word, `*.${word}`, `*.*.${word}`]), censor: '[redacted]' },
  });
}
