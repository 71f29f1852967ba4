import { type Logger, pino } from 'pino';

/** Lines of JSON on stdout, as every process of Foyer writes them. */
export type Log = Logger;

export function newLog(level = process.env.FOYER_LOG_LEVEL ?? 'info'): Log {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: { process: 'operator' }, timestamp: pino.stdTimeFunctions.isoTime, formatters });
}
