import type { Call } from '#kernel/endpoint.ts';
import { openSubtitles } from '../opensubtitles/opensubtitles.ts';
import { openFor } from './breaker.ts';
import { folder } from './folder.ts';
import { type ForeignFile, type Found, type Provider, ProviderFault, type Wanted } from './provider.ts';

/** Every built-in provider, in the order of an unset `subtitles.providers`. */
const all: readonly Provider[] = [openSubtitles, folder];

const LIMIT_MS = 8000;
const DOWNLOAD_MS = 20_000;

type Deps = Call['deps'];

/** Providers that settings and keys allow, in their order. */
export async function configuredProviders(deps: Deps): Promise<Provider[]> {
  const order = deps.settings.get('subtitles.providers');
  const chosen = order === null ? all : order.flatMap((id) => all.filter((provider) => provider.id === id));
  const ready = await Promise.all(chosen.map((provider) => provider.isConfigured(deps)));
  return chosen.filter((_, at) => ready[at]);
}

/** A provider as the capabilities show it. */
export interface ProviderState {
  id: string;
  name: string;
  kind: Provider['kind'];
  ok: boolean;
}

/** The configured providers, and whether the last requests had answers. Sends no request. */
export async function providerStates(deps: Deps): Promise<ProviderState[]> {
  const configured = await configuredProviders(deps);
  return Promise.all(
    configured.map(async ({ id, name, kind, circuits }) => {
      const all = circuits ? await circuits(deps) : [id];
      const open = await Promise.all(all.map((circuit) => openFor(deps.redis, circuit)));
      return { id, name, kind, ok: open.every((one) => one === undefined) };
    }),
  );
}

export interface Outcome {
  provider: Provider;
  found: Found[];
  tookMs: number;
  fault?: ProviderFault;
}

/** Queries the providers together, 8 seconds each. One that fails has a fault in place of findings. */
export async function queryProviders(
  deps: Deps,
  { providers, wanted, signal }: { providers: readonly Provider[]; wanted: Wanted; signal: AbortSignal },
): Promise<Outcome[]> {
  return Promise.all(
    providers.map(async (provider) => {
      const began = performance.now();
      const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
      const took = (): number => Math.round(performance.now() - began);
      try {
        const found = await within(limited, provider.search({ deps, signal: limited }, wanted));
        return { provider, found, tookMs: took() };
      } catch (error) {
        if (signal.aborted) throw error;
        const fault = error instanceof ProviderFault ? error : faultOf(deps, provider, error, limited);
        return { provider, found: [], tookMs: took(), fault };
      }
    }),
  );
}

function faultOf(deps: Deps, provider: Provider, ...[error, limited]: [unknown, AbortSignal]): ProviderFault {
  if (limited.aborted) return new ProviderFault('timeout', `no answer within ${LIMIT_MS} ms`);
  deps.log.warn({ err: error, provider: provider.id }, 'a subtitle provider failed');
  return new ProviderFault('error', 'failed');
}

/** Downloads a file of a provider. Throws `ProviderFault`. */
export async function downloadFrom(
  deps: Deps,
  { provider: id, file, signal }: { provider: string; file: string; signal: AbortSignal },
): Promise<ForeignFile> {
  const provider = (await configuredProviders(deps)).find((one) => one.id === id);
  if (!provider) throw new ProviderFault('error', 'this provider is no longer set up');
  const limited = AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_MS)]);
  return within(limited, provider.download({ deps, signal: limited }, file));
}

/** A provider may hang in a file system that does not answer. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(new ProviderFault('timeout', 'no answer in time'));
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
