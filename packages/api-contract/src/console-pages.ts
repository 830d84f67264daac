import { z } from 'zod';
import { route } from './route.ts';
import { idSchema } from './shared.ts';

const common = {
  method: 'GET',
  credentials: 'none',
  tag: 'Pages',
  description: 'Says where to look until there is a console here. The same for everybody: it reads nothing.',
  success: { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' },
} as const;

export const alertsPageRoute = route({
  ...common,
  path: '/alerts',
  summary: 'Page on which the connection of a room of the team chat ends',
  description: 'Its script reads how it ended from the fragment of the address.',
});

export const incidentPageRoute = route({
  ...common,
  path: '/incidents/:id',
  summary: 'Page of an incident that messages lead to',
  params: z.object({ id: idSchema }),
});

export const monitorPageRoute = route({
  ...common,
  path: '/monitors/:id',
  summary: 'Page of a monitor that messages lead to',
  params: z.object({ id: idSchema }),
});

export const probePageRoute = route({
  ...common,
  path: '/probes/:id',
  summary: 'Page of a probe that messages lead to',
  params: z.object({ id: idSchema }),
});
