import { defineArea } from '#kernel/endpoint.ts';
import { getMaintenance, updateMaintenance } from './maintenance.endpoints.ts';

export const maintenanceArea = defineArea('maintenance', 'Maintenance', [getMaintenance, updateMaintenance]);
