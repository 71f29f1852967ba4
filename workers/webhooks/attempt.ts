import { fullVersion } from '#areas/server/public.ts';
import { chats, type DeliveryAttempt, type WebhookFormat } from '#areas/webhooks/public.ts';
import { type Opened, signatureOf } from '#areas/webhooks/webhooks.store.ts';
import { type Outbound, type OutboundAnswer, type OutboundOptions, OutboundRefused } from '#platform/outbound.ts';
import { withoutTail } from '#platform/text.ts';

const ANSWER_MS = 10_000;
const ANSWER_BYTES = 4096;

export interface Sending {
  to: Opened;
  deliveryId: string;
  event: string;
  format: WebhookFormat;
  body: Buffer;
}

export interface Way {
  outbound: Outbound;
  open: Pick<OutboundOptions, 'allow' | 'always'>;
  signal: AbortSignal;
  clock: () => Date;
  pod: string;
}

/** One request and its result. Never throws because of the receiver or the network. */
export async function attempt(sending: Sending, way: Way): Promise<Omit<DeliveryAttempt, 'number'>> {
  const at = way.clock();
  const end = (rest: Rest) => ({
    at: at.toISOString(),
    tookMs: Math.max(0, way.clock().getTime() - at.getTime()),
    pod: way.pod,
    ...rest,
  });
  try {
    return end(answered(await way.outbound(urlFor(sending), optionsFor(sending, way))));
  } catch (error) {
    return end({ outcome: outcomeOf(error) });
  }
}

type Rest = Omit<DeliveryAttempt, 'number' | 'at' | 'tookMs' | 'pod'>;

/** A matrix room receives each message under an id chosen by the sender and drops duplicates. */
function urlFor({ to, format, deliveryId }: Sending): string {
  if (format !== 'matrix') return to.url;
  const url = new URL(to.url);
  url.pathname = `${withoutTail(url.pathname, '/')}/${deliveryId}`;
  return url.href;
}

function optionsFor(sending: Sending, { open, signal }: Way): OutboundOptions {
  const { to, format, body, event, deliveryId } = sending;
  return {
    ...open,
    method: format === 'matrix' ? 'PUT' : 'POST',
    headers: {
      ...to.headers,
      ...(format === 'ntfy' && { Title: 'Foyer' }),
      'Content-Type': format === 'json' ? 'application/json' : chats[format].type,
      'User-Agent': `Foyer/${fullVersion}`,
      'X-Service-Event': event,
      'X-Service-Delivery': deliveryId,
      'X-Service-Signature': signatureOf(to.secret, body),
    },
    body,
    maxBytes: ANSWER_BYTES,
    cut: true,
    timeoutMs: ANSWER_MS,
    maxRedirects: 0,
    signal,
  };
}

function answered({ status, headers, body, address }: OutboundAnswer): Rest {
  const responseHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, storable(String(value)).slice(0, 1000)]),
  );
  return {
    outcome: status >= 200 && status < 300 ? '2xx' : status >= 300 && status < 400 ? 'redirect' : 'status',
    statusCode: status,
    ...(address !== undefined && { address }),
    responseHeaders,
    responseBody: storable(body.toString('utf8')),
  };
}

/** Postgres stores no NUL. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');

const DNS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA', 'ESERVFAIL', 'EREFUSED']);
const CERTIFICATE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/;

function outcomeOf(error: unknown): DeliveryAttempt['outcome'] {
  if (error instanceof OutboundRefused) return error.reason === 'time' ? 'timeout' : 'refused-address';
  const code = (error as { code?: string }).code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return 'too-large-answer';
  if (DNS.has(code)) return 'dns';
  return CERTIFICATE.test(code) ? 'tls' : 'connection';
}
