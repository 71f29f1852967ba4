// Declared settings reach a process through its environment; a new value among them is a change like any other.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Deps } from '#kernel/endpoint.ts';
import { type Keys, sign } from '#platform/keys.ts';
import { emit } from '#platform/outbox.ts';
import { announceSettings, type SettingKey, type Settings, settingKeys } from '#platform/settings.ts';
import { type Change, lastDeclared, lockRevision, noteDeclared, writeChanges } from './settings.store.ts';
import { isSecret } from './settings.view.ts';

type Values = Readonly<Partial<Record<SettingKey, unknown>>>;

/** Declared values; a secret is replaced by a mark that differs for another value and reveals nothing. */
function declaredNow(settings: Settings, keys: Keys): Values {
  const declared = settingKeys.filter((key) => settings.sourceOf(key) === 'resource');
  const kept = (key: SettingKey): unknown =>
    isSecret(key) ? sign(keys, `${key}|${JSON.stringify(settings.get(key))}`).toString('base64url') : settings.get(key);
  return Object.fromEntries(declared.map((key) => [key, kept(key)]));
}

function changesOf(settings: Settings, before: Values, now: Values): Change[] {
  const inForce = (declared: Values, key: SettingKey): string | null =>
    isSecret(key) ? null : JSON.stringify(Object.hasOwn(declared, key) ? declared[key] : settings.undeclared(key));
  return settingKeys
    .filter((key) => !isDeepStrictEqual(before[key], now[key]))
    .map((key) => ({ key, before: inForce(before, key), after: inForce(now, key), source: 'resource' }));
}

async function takeOver({ db, settings, keys, redis }: Deps): Promise<void> {
  await settings.reload();
  const now = declaredNow(settings, keys);
  const changed = await db.transaction(async (transaction) => {
    const revision = (await lockRevision(transaction)) + 1; // replicas run one after another
    const changes = changesOf(settings, await lastDeclared(transaction), now);
    if (changes.length === 0) return false;
    await noteDeclared(transaction, now);
    await writeChanges(transaction, changes, { revision });
    await emit(transaction, 'settings.changed', { payload: { keys: changes.map(({ key }) => key) } });
    return true;
  });
  if (changed) await announceSettings(redis);
}

/**
 * Writes the history of declared values that changed, and emits the event once; retries until the database is
 * available.
 */
export async function takeOverDeclared(deps: Deps, signal: AbortSignal): Promise<void> {
  for (let done = false; !done && !signal.aborted; ) {
    done = await takeOver(deps).then(
      () => true,
      (error: Error) => {
        deps.log.warn({ err: error.message }, 'settings of the resource not noted yet');
        return false;
      },
    );
    if (!done) await sleep(5000, undefined, { signal }).catch(() => undefined);
  }
}
