import type { UpdateMaintenanceBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';

export async function changeMaintenance(body: UpdateMaintenanceBody): Promise<void> {
  await api.updateMaintenance({ body });
  await invalidate('getMaintenance');
}
