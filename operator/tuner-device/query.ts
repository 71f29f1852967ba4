import { exchange } from '../server-api/exchange.ts';
import { PodStatus } from './verdicts.ts';

const TIMEOUT_MS = 5000;

/** The status of a tuner's process; undefined when it does not respond. */
export async function queryTuner(address: string): Promise<PodStatus | undefined> {
  try {
    const { status, text } = await exchange(`${address}/status`, { timeoutMs: TIMEOUT_MS });
    return status === 200 ? PodStatus.parse(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}
