import { type Logger, pino } from 'pino';

/** JSON lines on stdout, as from every process of Foyer. */
export type Log = Logger;

export function newLog(level = process.env.FOYER_LOG_LEVEL ?? 'info'): Log {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: { process: 'operator' }, timestamp: pino.stdTimeFunctions.isoTime, formatters });
}
