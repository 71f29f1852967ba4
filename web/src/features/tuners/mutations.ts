// Changes of tuners and channels.
import type {
  CreateTunerBody,
  DiscoverTunersResponse,
  LiveTest,
  UpdateLiveChannelBody,
  UpdateLiveChannelsBody,
  UpdateTunerBody,
} from 'foyer-client';
import { api } from '#core/api/client.ts';
import { query, queryClient } from '#core/cache/query.ts';

const again = (name: 'listTuners' | 'listLiveChannels'): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: query(name).queryKey.slice(0, 1) });

export async function addTuner(body: CreateTunerBody, playlist: File | undefined): Promise<void> {
  await api.createTuner({ body: playlist ? formOf(body, playlist) : body });
  await again('listTuners');
}

function formOf(body: CreateTunerBody, playlist: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, String(value));
  form.append('playlist', playlist);
  return form;
}

export async function changeTuner(id: string, body: UpdateTunerBody): Promise<void> {
  await api.updateTuner({ params: { id }, body });
  await again('listTuners');
}

export async function deleteTuner(id: string): Promise<void> {
  await api.deleteTuner({ params: { id }, query: { force: true } });
  await again('listTuners');
}

export async function scanTuner(id: string): Promise<void> {
  await api.scanTuner({ params: { id } });
  await again('listTuners');
}

export const findTuners = (): Promise<DiscoverTunersResponse> => api.discoverTuners({ body: {} });

export async function changeChannel(id: string, body: UpdateLiveChannelBody): Promise<void> {
  await api.updateLiveChannel({ params: { id }, body });
  await again('listLiveChannels');
}

export async function changeChannels(body: UpdateLiveChannelsBody): Promise<void> {
  await api.updateLiveChannels({ body });
  await again('listLiveChannels');
}

export async function setFavorite(id: string, favorite: boolean): Promise<void> {
  await (favorite ? api.addLiveFavorite({ params: { id } }) : api.removeLiveFavorite({ params: { id } }));
  await again('listLiveChannels');
}

export async function testChannel(id: string): Promise<LiveTest | undefined> {
  const { results } = await api.testLiveChannel({ params: { id }, body: { seconds: 3 } });
  return results[0];
}
