import { ApiError, invalid } from '#kernel/errors.ts';
import { ARTWORK_BYTES } from '#kernel/images.ts';
import { type Outbound, type OutboundAnswer, type OutboundOptions, OutboundRefused } from '#platform/outbound.ts';
import type { GivenPicture } from '#platform/pictures.ts';

const RULES: OutboundOptions = {
  maxRedirects: 3,
  maxBytes: ARTWORK_BYTES,
  timeoutMs: 15_000,
  headers: { accept: 'image/*' },
};

/** Of addresses that persons give. */
const PORTS: OutboundOptions = { ports: [80, 443] };

/**
 * A picture of another server. Throws 400 `address_not_allowed` for an address that is not public, 413 for a body that
 * is too large, 502 when the other server fails.
 */
export async function fetchPicture(
  outbound: Outbound,
  url: string,
  { path, rules = {}, anyPort = false }: { path: string[]; rules?: OutboundOptions; anyPort?: boolean },
): Promise<GivenPicture> {
  const answer = await outbound(url, { ...RULES, ...(!anyPort && PORTS), ...rules }).catch((error: unknown) => {
    throw refusalOf(error, path);
  });
  if (answer.status !== 200) throw unavailable({ status: answer.status });
  return { bytes: answer.body, type: typeOf(answer) };
}

const typeOf = ({ headers }: OutboundAnswer): string => headers['content-type']?.split(';', 1)[0]?.trim() ?? '';

const unavailable = (details: Record<string, unknown>): ApiError =>
  new ApiError('PROVIDER_UNAVAILABLE', 'The other server sent no picture', details);

function refusalOf(error: unknown, path: string[]): ApiError {
  if (!(error instanceof OutboundRefused)) return unavailable({ reason: 'unreachable' });
  if (error.reason === 'size') {
    return new ApiError('PAYLOAD_TOO_LARGE', 'The picture is too large', { maxBytes: ARTWORK_BYTES });
  }
  if (error.reason === 'time') return unavailable({ reason: 'timeout' });
  return invalid(path, 'address_not_allowed', 'this address is not fetched');
}
