import type { ErrorCode, ErrorDetails } from './areas/errors.ts';

interface ErrorBody<C extends ErrorCode> {
  status: number;
  code: C;
  message: string;
  requestId: string;
  details: ErrorDetails[C];
}

/** A refusal of the server. Branch on `code`, which also gives the type of `details`; `message` is for people and may change. */
export class FoyerError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'FoyerError';
  readonly status: number;
  readonly code: C;
  /** The id of the request in the server's log. */
  readonly requestId: string;
  readonly details: ErrorDetails[C];
  /** Seconds to wait before a retry, if the server sent them. */
  readonly retryAfterSec: number | undefined;

  constructor({ status, code, message, requestId, details }: ErrorBody<C>, retryAfterSec?: number) {
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

/** The response is not of this API: a page of a proxy, an incomplete body, another server. */
export class NotFoyer extends Error {
  override readonly name = 'NotFoyer';
  readonly status: number;
  constructor(status: number) {
    super(`the response (${status}) is not of this API`);
    this.status = status;
  }
}

/** The error of an unsuccessful response. */
export async function failureOf(response: Response): Promise<FoyerError | NotFoyer> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error } = (body ?? {}) as { error?: Partial<ErrorBody<ErrorCode>> };
  if (typeof error?.code !== 'string') return new NotFoyer(response.status);
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  const { code, message = '', requestId = '', details = {} } = error;
  const fields = { status: response.status, code, message, requestId, details } as ErrorBody<ErrorCode>;
  return new FoyerError(fields, Number.isFinite(wait) ? wait : undefined);
}
