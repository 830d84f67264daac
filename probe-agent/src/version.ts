/** Version of this agent, as it says of itself to the control plane and to targets. */
export const agentVersion = '0.1.0';
