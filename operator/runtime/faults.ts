// The two ways in which a request to the API server fails.

/** The API server was not to be reached, or did not end its answer. */
export class Unreached extends Error {}

/** It answered, and not with success. */
export class Refusal extends Error {
  readonly status: number;
  /** metav1.Status reason, such as Conflict; empty where the answer was none. */
  readonly reason: string;
  /** From Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(answer: { status: number; reason: string; message: string; retryAfterMs: number | undefined }) {
    super(answer.message);
    this.status = answer.status;
    this.reason = answer.reason;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** This process is not the leader any more, and the write was not sent. */
export class Deposed extends Error {}

/** Something is there that the caches did not hold yet: the next pass sees it. */
export class Unseen extends Error {}

export const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof Refusal && statuses.includes(error.status);

const MESSAGE_MAX = 1000;

/** What the body of a refused request says. Of Secrets only the reason: the message may quote a value. */
export function refusalOf(path: string, status: number, answer: { body: string; retryAfter?: string }): Refusal {
  const { reason = '', message = '' } = statusOf(answer.body);
  const said = /\/secrets(\/|$|\?)/.test(path) ? '' : shortened(message || answer.body.trim());
  const text = [String(status), reason, said].filter(Boolean).join(' ');
  return new Refusal({ status, reason, message: text, retryAfterMs: retryAfterMs(answer.retryAfter) });
}

function statusOf(body: string): { reason?: string; message?: string } {
  try {
    return JSON.parse(body) as { reason?: string; message?: string };
  } catch {
    return {};
  }
}

/** Seconds, or a date. */
function retryAfterMs(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Both ends: an API server that repeats the whole object says what is wrong with it last. */
function shortened(text: string): string {
  if (text.length <= MESSAGE_MAX) return text;
  return `${text.slice(0, MESSAGE_MAX / 2)} … ${text.slice(-MESSAGE_MAX / 2)}`;
}
