// The guide of a TunerDevice becomes a guide source of the server through the public API.
import type { ManagedBy } from '../library/server-library.ts';
import { digest } from '../runtime/canonical.ts';
import type { TunerDeviceSpec } from '../schemas/tuner-device.ts';
import { refusalText, type SendRequest } from '../server-api/server-client.ts';
import type { ServerGuide } from './server-facts.ts';

export interface DeclaredGuide {
  name: string;
  spec: TunerDeviceSpec;
  /** Address of the guide, where a Secret holds it. */
  guideUrl: string | undefined;
}

interface Syncing {
  request: SendRequest;
  managedBy: ManagedBy;
  tunerId: string;
  existing: ServerGuide | undefined;
  /** Digest of the last request; it is changed here. */
  sent: Map<string, string>;
}

type Body = Record<string, unknown>;

/** What the resource declares, as the API spells it; undefined without a guide. */
export function guideBody({ name, spec, guideUrl }: DeclaredGuide, tunerId: string): Body | undefined {
  const { guide } = spec;
  if (!guide?.xmltv && !guide?.device) return undefined;
  const source = guide.xmltv ? { kind: 'xmltv', url: guideUrl ?? guide.xmltv.url } : { kind: 'tuner', tunerId };
  return {
    ...source,
    name: (spec.displayName ?? name).slice(0, 60),
    refreshCron: guide.refresh,
    days: guide.days,
  };
}

/** Creates, changes or deletes the guide source. Returns the refusal of the server, if any. Throws Unreachable. */
export async function syncGuide(declared: DeclaredGuide, syncing: Syncing): Promise<string | undefined> {
  const { request, tunerId, sent } = syncing;
  let { existing } = syncing;
  const body = guideBody(declared, tunerId);
  const key = `guide/${syncing.managedBy.uid}`;
  if (existing && existing.kind !== body?.kind) {
    const refusal = await removed(request, existing);
    if (refusal !== undefined) return refusal;
    existing = undefined;
    sent.delete(key);
  }
  if (!body) return undefined;
  const wanted = digest(body);
  if (existing && sent.get(key) === wanted) return undefined;
  const answer = await write(body, { ...syncing, existing });
  if (answer.status >= 300) return `spec.guide: ${refusalText(answer)}`;
  if (existing) sent.set(key, wanted); // a new one is sent once more, because the server may have known it
  return undefined;
}

async function removed(request: SendRequest, { id }: ServerGuide): Promise<string | undefined> {
  const answer = await request('DELETE', `/live/guide/sources/${id}`);
  return answer.status >= 300 && answer.status !== 404 ? `spec.guide: ${refusalText(answer)}` : undefined;
}

/** The kind and the tuner of a source cannot be changed. */
function write(body: Body, { request, managedBy, existing }: Syncing): ReturnType<SendRequest> {
  if (!existing) return request('POST', '/live/guide/sources', { ...body, managedBy });
  const { kind: _kind, tunerId: _tuner, ...changeable } = body;
  return request('PATCH', `/live/guide/sources/${existing.id}`, { ...changeable, managedBy });
}
