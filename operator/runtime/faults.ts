// The two ways in which a request to the API server fails.

/** The API server was unreachable, or its response was incomplete. */
export class Unreached extends Error {}

/** The API server responded with an error. */
export class Refusal extends Error {
  readonly status: number;
  /** Reason of metav1.Status, such as Conflict; empty without one. */
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

/** This process is no longer the leader, and the write was not sent. */
export class Deposed extends Error {}

/** The cache was outdated. It has been updated, and the next pass uses it. */
export class StaleCache extends Error {}

export const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof Refusal && statuses.includes(error.status);

const MESSAGE_MAX = 1000;

/** The error of a refused request. For Secrets it has only the reason, since the message may contain a value. */
export function refusalOf(path: string, status: number, answer: { body: string; retryAfter?: string }): Refusal {
  const { reason = '', message = '' } = statusOf(answer.body);
  const detail = /\/secrets(\/|$|\?)/.test(path) ? '' : shortened(message || answer.body.trim());
  const text = [String(status), reason, detail].filter(Boolean).join(' ');
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

/** Keeps both ends: an API server that repeats the object puts the error last. */
function shortened(text: string): string {
  if (text.length <= MESSAGE_MAX) return text;
  return `${text.slice(0, MESSAGE_MAX / 2)} … ${text.slice(-MESSAGE_MAX / 2)}`;
}
