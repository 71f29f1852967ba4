import type { OutboundAnswer } from '../outbound.ts';
import type { Agent, CatalogueRequest, Verdict } from './agent.ts';

const MINUTE = 60_000;

/** An answer of a catalogue and its meaning. */
export interface Answer {
  verdict: Verdict | 'ok' | 'same' | 'token' | 'not-json' | 'invalid';
  text: string;
  /** As the request's schema reads it; undefined unless the verdict is `ok`. */
  value: unknown;
  etag: string | null;
  /** Of `Retry-After`. */
  waitMs: number | undefined;
}

/** The body as text and as JSON; `json` is undefined for another text. */
export function textOf({ body }: Pick<OutboundAnswer, 'body'>): { text: string; json: unknown } {
  const text = body.toString('utf8');
  try {
    return { text, json: JSON.parse(text) as unknown };
  } catch {
    return { text, json: undefined };
  }
}

export function answerOf(agent: Agent, request: CatalogueRequest, answer: OutboundAnswer): Answer {
  const { status, headers } = answer;
  const read = textOf(answer);
  const base = {
    text: read.text,
    value: undefined,
    etag: headers.etag?.slice(0, 200) ?? null,
    waitMs: retryAfterMs(headers['retry-after']),
  };
  if (status === 304) return { ...base, verdict: 'same' };
  const judged = agent.judge?.({ status, body: read.json }) ?? byStatus(status, base.waitMs);
  if (judged) return { ...base, verdict: judged };
  if (read.json === undefined) return { ...base, verdict: 'not-json' };
  const parsed = request.schema.safeParse(read.json);
  return parsed.success ? { ...base, value: parsed.data, verdict: 'ok' } : { ...base, verdict: 'invalid' };
}

const MEANINGS: Readonly<Record<number, Answer['verdict']>> = {
  ...{ 401: 'refused', 403: 'refused', 404: 'none', 410: 'none', 429: 'rate-limited' },
};

function byStatus(status: number, waitMs: number | undefined): Answer['verdict'] | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 503 && waitMs !== undefined) return 'rate-limited';
  return MEANINGS[status] ?? (status >= 500 ? 'failed' : 'invalid');
}

/** Seconds or a date, bounded to 30 minutes; a minute for another text. Undefined without the header. */
export function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(seconds) ? Math.min(30 * MINUTE, Math.max(1000, seconds)) : MINUTE;
}
