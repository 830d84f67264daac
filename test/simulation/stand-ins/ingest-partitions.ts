/* The partitions of the results: the model has one table. */

export function createPartitions() {
  return { prepare: async (): Promise<void> => {}, prepareFor: async (): Promise<void> => {} };
}
