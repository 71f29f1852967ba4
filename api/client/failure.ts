import type { ErrorCode, ErrorDetails } from './records/errors.ts';

interface Told<C extends ErrorCode> {
  status: number;
  code: C;
  message: string;
  requestId: string;
  details: ErrorDetails[C];
}

/** What the server refused. Branch on `code`, which also says what `details` hold; `message` is for people and may change. */
export class FoyerError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'FoyerError';
  readonly status: number;
  readonly code: C;
  /** Matches the lines of the server's log about the request. */
  readonly requestId: string;
  readonly details: ErrorDetails[C];
  /** Seconds to wait before the next try, where the server said so. */
  readonly retryAfterSec: number | undefined;

  constructor({ status, code, message, requestId, details }: Told<C>, retryAfterSec?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.details = details;
    this.retryAfterSec = retryAfterSec;
  }

  /** True for an error with that code, whose details are then known. */
  static is<K extends ErrorCode>(error: unknown, code: K): error is FoyerError<K> {
    return error instanceof FoyerError && error.code === code;
  }
}

/** No answer of this API: a proxy's page, a cut connection's half, another server. */
export class NotFoyer extends Error {
  override readonly name = 'NotFoyer';
  readonly status: number;
  constructor(status: number) {
    super(`the answer (${status}) is not of this API`);
    this.status = status;
  }
}

/** Of an answer that is no success. */
export async function failureOf(response: Response): Promise<FoyerError | NotFoyer> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error } = (body ?? {}) as { error?: Partial<Told<ErrorCode>> };
  if (typeof error?.code !== 'string') return new NotFoyer(response.status);
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  const { code, message = '', requestId = '', details = {} } = error;
  const told = { status: response.status, code, message, requestId, details } as Told<ErrorCode>;
  return new FoyerError(told, Number.isFinite(wait) ? wait : undefined);
}
