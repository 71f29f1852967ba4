import type { Server } from 'node:http';
import { serveStatus } from '../status-server.ts';
import type { TunerDevice } from './device.ts';
import type { Channel } from './lineup.ts';

/** `/live` and `/ready` for the kubelet, `/status` for the operator, `/channels` for the server. */
export function serveTuner(
  device: Pick<TunerDevice, 'status' | 'channels'>,
  at: { host: string; port: number },
): Promise<Server> {
  const well = () => ({ body: { status: 'ok' } });
  return serveStatus(
    {
      '/live': well,
      '/ready': well,
      '/status': () => ({ body: device.status }),
      '/channels': () => ({ body: { items: device.channels.map(withoutUrl) } }),
    },
    at,
  );
}

/** Without the address of its stream, which may contain a credential. */
function withoutUrl(channel: Channel): Omit<Channel, 'url'> {
  const { number, name, group, logo, guideId, hd, radio } = channel;
  return { number, name, hd, radio, ...(group && { group }), ...(logo && { logo }), ...(guideId && { guideId }) };
}
