/** A well-formed id that nothing has. */
export const ABSENT = '01900000-0000-7000-8000-00000000dead';

export interface Failure {
  code: string;
  message: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows what the details of its error hold
  details: Record<string, any>;
  requestId: string;
}

/** The error of a failed request, also where the client kept the body as bytes. */
export function errorOf({ body }: { body: unknown }): Failure {
  const sent = Buffer.isBuffer(body) || typeof body === 'string' ? (JSON.parse(String(body)) as unknown) : body;
  return (sent as { error: Failure }).error;
}
