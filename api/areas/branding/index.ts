import { defineArea } from '#kernel/endpoint.ts';
import {
  deleteBrandingLogo,
  getBranding,
  getBrandingLogo,
  setBrandingLogo,
  updateBranding,
} from './branding.endpoints.ts';

export const brandingArea = defineArea('branding', 'Branding', [
  getBranding,
  updateBranding,
  getBrandingLogo,
  setBrandingLogo,
  deleteBrandingLogo,
]);
