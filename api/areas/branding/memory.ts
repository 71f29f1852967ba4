// The branding in the memory of this process: texts and the four logos, so that reads need no store.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '#kernel/endpoint.ts';
import type { Kind, Scheme } from './branding.schemas.ts';
import { type LogoRow, noteDeclared, readBranding, type TextRow } from './branding.store.ts';
import { bytesOf } from './bytes.ts';
import { type Declared, nothingDeclared, readDeclared } from './declared.ts';

export interface HeldLogo extends Omit<LogoRow, 'created_at'> {
  created_at?: Date;
  /** Undefined until the object store has returned it once. */
  bytes: Buffer | undefined;
}

export interface Brand {
  texts: TextRow;
  logos: HeldLogo[];
  declared: Declared;
}

export interface BrandMemory {
  /** Returns the cached branding; only the first call waits for a read, and not while Postgres is unavailable. */
  current(): Promise<Brand>;
  /** Reads the rows again. Throws while Postgres is unavailable. */
  reload(): Promise<void>;
  /** Notifies the other replicas. */
  announce(): Promise<void>;
}

const CHANNEL = 'foyer:branding';
const EVERY_MS = 30_000;
const FIRST_MS = 2000;

const noTexts: TextRow = {
  revision: 0,
  show_name: null,
  accent: null,
  background: null,
  sign_in_message: null,
  footer: null,
  links: null,
  motion: null,
  min_ms: null,
  alt_main: null,
  alt_loading: null,
  declared: '',
};

const memories = new WeakMap<Deps, BrandMemory>();

/** One for each process, created on first use. */
export function brandOf(deps: Deps): BrandMemory {
  const known = memories.get(deps);
  if (known) return known;
  const made = createMemory(deps);
  memories.set(deps, made);
  return made;
}

function createMemory(deps: Deps): BrandMemory {
  const { redis, log, draining } = deps;
  let brand: Brand = { texts: noTexts, logos: [], declared: nothingDeclared };
  let first: Promise<unknown> | undefined;
  const read = async (): Promise<void> => {
    brand = await readBrand(deps, brand);
  };
  let last: Promise<unknown> = Promise.resolve();
  /** Reads run one after another, so that a slow one cannot overwrite a later one. */
  const reload = (): Promise<void> => {
    const next = last.then(read, read);
    last = next;
    return next;
  };
  const quietly = (): Promise<void> =>
    reload().catch((error: Error) => log.debug({ err: error.message }, 'branding not read'));
  const timer = setInterval(() => void quietly(), EVERY_MS);
  timer.unref();
  const subscriber = redis.duplicate({ enableOfflineQueue: true });
  subscriber.on('error', () => undefined); // connectRedis logs a lost server
  subscriber.on('ready', () => void subscriber.subscribe(CHANNEL).then(quietly, () => undefined));
  subscriber.on('message', () => void quietly());
  draining.addEventListener('abort', () => {
    clearInterval(timer);
    subscriber.disconnect();
  });
  return {
    async current() {
      if (brand.texts.revision === 0 && deps.vitals.state('database') === 'ok') {
        first ??= quietly().finally(() => {
          first = undefined;
        });
        await Promise.race([first, sleep(FIRST_MS, undefined, { ref: false })]);
      }
      return brand;
    },
    reload,
    announce: async () => {
      await redis.publish(CHANNEL, '').catch(() => 0); // without Redis the other replicas read it within 30 s
    },
  };
}

/** Declared values take precedence over saved ones. */
async function readBrand(deps: Deps, before: Brand): Promise<Brand> {
  const folder = deps.config.brandingDir;
  const declared = folder
    ? await readDeclared(folder, before.declared, deps).catch((error: Error) => {
        deps.log.warn({ err: error.message }, 'branding: the declared one is not read');
        return before.declared;
      })
    : nothingDeclared;
  const isNew = before.texts.revision === 0 || declared !== before.declared;
  if (isNew) await noteDeclared(deps.db, declared.fingerprint);
  const stored = await readBranding(deps.db);
  const free = stored.logos.filter((row) => !declared.logos.some((one) => samePlace(one, row)));
  const logos = await Promise.all(free.map(async (row) => ({ ...row, bytes: await bytesOf(deps, row, before.logos) })));
  return { texts: { ...stored.texts, ...declared.columns }, logos: [...declared.logos, ...logos], declared };
}

const samePlace = (a: { kind: Kind; scheme: Scheme }, b: { kind: Kind; scheme: Scheme }): boolean =>
  a.kind === b.kind && a.scheme === b.scheme;
