import { liveWorkers } from '#areas/streaming/public.ts';
import type { Deps } from '#kernel/endpoint.ts';
import type { SettingKey } from '#platform/settings.ts';

/**
 * Choices that depend on the deployment: time zones that this Node knows, encoders that transcode workers report. The
 * value in force is always among them.
 */
export async function choicesNow({
  redis,
  settings,
}: Pick<Deps, 'redis' | 'settings'>): Promise<Partial<Record<SettingKey, readonly string[]>>> {
  const workers = (await liveWorkers(redis)) ?? [];
  const cards = workers.flatMap(({ encoder }) => encoder.match(/nvenc|qsv|vaapi/)?.[0] ?? []).sort();
  return {
    'server.timeZone': [...new Set(['UTC', settings.get('server.timeZone'), ...Intl.supportedValuesOf('timeZone')])],
    'transcode.hardware': [...new Set(['auto', 'off', settings.get('transcode.hardware'), ...cards])],
  };
}
