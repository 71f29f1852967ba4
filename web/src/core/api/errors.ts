// A failure of any kind in one shape: a refusal of the server, no connection, another server.
import { FoyerError, NotFoyer } from '../../../../api/client/index.ts';

export interface Problem {
  /** The server's code; `offline` without a connection, `not-foyer` for the page of a proxy, `unexpected` for a fault of ours. */
  code: string;
  status?: number;
  /** The server's text. */
  message: string;
  /** `details.reason` or `details.by`, which narrow the code. */
  reason?: string;
  requestId?: string;
  retryAfterSec?: number;
  issues: readonly Issue[];
  details: Readonly<Record<string, unknown>>;
}

/** A fault of one field of a request. */
export interface Issue {
  path: readonly (string | number)[];
  code: string;
  message: string;
}

const NONE = { issues: [], details: {} } as const;

export function problemOf(error: unknown): Problem {
  if (error instanceof FoyerError) return ofServer(error);
  if (error instanceof NotFoyer) return { code: 'not-foyer', status: error.status, message: error.message, ...NONE };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof TypeError && isConnection(message)) return { code: 'offline', message, ...NONE };
  return { code: 'unexpected', message, ...NONE };
}

function ofServer({ code, status, message, requestId, retryAfterSec, details }: FoyerError): Problem {
  const known = details as { reason?: unknown; by?: unknown; issues?: readonly Issue[] };
  const reason = known.reason ?? known.by;
  return {
    code,
    status,
    message,
    requestId,
    ...(retryAfterSec !== undefined && { retryAfterSec }),
    ...(typeof reason === 'string' && { reason }),
    issues: known.issues ?? [],
    details: details as Record<string, unknown>,
  };
}

/** The texts that browsers give a fetch that got no response. */
const isConnection = (message: string): boolean => /fetch|network|load failed|connection/i.test(message);

/** The issues of a field, named by the end of its path, such as `password`. */
export const issuesOf = ({ issues }: Problem, field: string): readonly Issue[] =>
  issues.filter(({ path }) => path.at(-1) === field);

/** True for failures that pass by themselves: no connection, the server starting, a proxy without a server behind it. */
export function isPassing({ code, status = 0 }: Problem): boolean {
  return code === 'offline' || code === 'SERVICE_STARTING' || [502, 503, 504].includes(status);
}
